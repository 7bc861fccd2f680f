"""sampler_padding: every size against torch's DistributedSampler."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DistributedSampler

from tests.calculators.helpers import values, verdict

NAME = "sampler_padding"


def test_ten_samples_on_four_ranks_repeat_two() -> None:
    found = values(NAME)
    assert found["indices"] == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    assert (found["duplicated"], found["dropped"], found["effective_size"]) == (2, 0, 12)
    assert verdict(NAME) == "padded"
    cut = values(NAME, drop_last=True)
    assert (cut["duplicated"], cut["dropped"], cut["effective_size"]) == (0, 2, 8)
    assert (verdict(NAME, drop_last=True), verdict(NAME, dataset_size=8)) == ("dropped", "even")


def test_batches_of_a_rank() -> None:
    found = values(NAME, dataset_size=20, batch_size=2)
    assert (found["batches_per_rank"], found["last_batch_size"]) == (3, 1)


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 9), st.booleans())
def test_indices_are_those_of_torch(dataset_size: int, world_size: int, drop_last: bool) -> None:
    found = values(NAME, dataset_size=dataset_size, world_size=world_size, drop_last=drop_last)
    expected = [
        list(
            DistributedSampler(
                range(dataset_size), world_size, rank, shuffle=False, drop_last=drop_last
            )
        )
        for rank in range(world_size)
    ]
    assert found["indices"] == expected
    read = [index for row in expected for index in row]
    assert found["effective_size"] == len(read)
    assert found["duplicated"] == len(read) - len(set(read))
    assert found["dropped"] == dataset_size - len(set(read))
