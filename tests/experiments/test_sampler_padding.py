"""The recorded indices against the rule, written once more."""

from __future__ import annotations

import itertools

import pytest

from experiments.sampler_padding import CASES, indices_of
from tests.experiments.helpers import record

RESULTS = record("sampler_padding").results


@pytest.mark.parametrize("case", CASES)
def test_every_replica_reads_each_nth_of_a_repeated_or_cut_list(case: str) -> None:
    found = RESULTS[case]
    size, replicas = found["dataset_size"], found["num_replicas"]
    whole = size // replicas * replicas
    length = whole if found["drop_last"] or whole == size else whole + replicas
    order = list(itertools.islice(itertools.cycle(range(size)), length))
    assert found["indices"] == [order[rank::replicas] for rank in range(replicas)]
    assert found["duplicated"] == len(order) - len(set(order))
    assert found["dropped"] == size - len(set(order))
    assert found["epoch_mean"] == pytest.approx(sum(order) / len(order), abs=1e-15)


def test_the_record_says_what_this_torch_does() -> None:
    for case in CASES.values():
        size, replicas = case["dataset_size"], case["num_replicas"]
        rows = [indices_of(size, replicas, rank, case["drop_last"]) for rank in range(replicas)]
        assert rows in [RESULTS[name]["indices"] for name in CASES]


def test_an_epoch_repeats_its_order_without_set_epoch() -> None:
    shuffled = RESULTS["shuffled"]
    assert shuffled["first_epoch"] == shuffled["second_epoch_without_set_epoch"]
    assert shuffled["first_epoch"] != shuffled["second_epoch_with_set_epoch"]
