"""What Gloo did, told from how a comparison, a square root and a pair of calls work."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.experiments.helpers import record

RECORD = record("collective_semantics")
RESULTS = RECORD.results
CONTAINED = RESULTS["contained"]


def standard_max(left: float, right: float) -> float:
    """C++'s std::max: the left one, unless it compares less."""
    return right if left < right else left


def as_json(value: float) -> Any:
    return "nan" if value != value else value


@pytest.mark.parametrize("owner", [0, 1])
def test_whether_a_nan_survives_depends_on_who_compares(owner: int) -> None:
    values = [float("nan") if rank == owner else 1.0 for rank in (0, 1)]
    on_rank_0, on_rank_1 = standard_max(*values), standard_max(*reversed(values))
    found = RESULTS["nan"]["max"]
    assert found["four_elements"][f"on_rank_{owner}"] == [
        *map(as_json, [on_rank_0, on_rank_0, on_rank_1, on_rank_1])
    ]
    assert found["one_element"][f"on_rank_{owner}"] == [as_json(on_rank_0)]
    assert RESULTS["nan"]["sum"]["four_elements"][f"on_rank_{owner}"] == ["nan"] * 4


def test_a_flag_arrives_from_either_rank() -> None:
    assert RESULTS["flag"] == {"on_rank_0": [1.0, 1.0], "on_rank_1": [1.0, 1.0]}


def test_a_square_root_divides_by_the_overwritten_result() -> None:
    losses = [3.0, 4.0]
    for path in ("detached", "not_detached"):
        found = RESULTS["in_place"][path]
        assert found["losses"] == [sum(losses)] * 2
        # d sqrt(u) = du / (2 sqrt(u)): the square of a parameter of that value, and the sum kept.
        expected = [2 * loss / (2 * sum(losses)) for loss in losses]
        assert found["gradients"] == pytest.approx(expected, abs=1e-15)
    for path in ("unreduced", "cloned", "mean"):
        assert RESULTS["in_place"][path]["gradients"] == [1.0, 1.0]
    warned = {path for path, found in RESULTS["in_place"].items() if any(found["has_warned"])}
    assert warned == {"not_detached"}


def test_only_the_destination_has_the_sum() -> None:
    assert RESULTS["reduce"]["destination"] == [1.0 + 10.0] * 4
    assert set(RESULTS["reduce"]["other"]) == {10.0, 11.0}


def test_forwards_reduce_until_a_forward_without_gradient_has_run() -> None:
    found = RESULTS["ddp_forward"]
    assert found["evaluation"] == found["first_no_grad"] > 0
    assert found["second_no_grad"] == found["without_buffers"] == 0
    assert found["without_buffers_rebuild"] > 0


@pytest.mark.parametrize(
    ("scenario", "kinds"),
    [
        ("rank_stays_away", ["timed_out", "returned"]),
        ("rank_dies", ["lost_its_peer", "exited"]),
        ("other_collective", ["timed_out", "timed_out"]),
        ("other_length", ["aborted", "lost_its_peer"]),
        ("other_dtype", ["returned", "returned"]),
        ("other_reduce_op", ["returned", "returned"]),
        ("swapped_step", ["returned", "returned"]),
    ],
)
def test_each_scenario_ends_so(scenario: str, kinds: list[str]) -> None:
    assert CONTAINED[scenario]["endings"] == kinds


def test_detail_compares_kind_shape_and_dtype_only() -> None:
    detailed = {
        name: found["detail"]
        for name, found in CONTAINED.items()
        if isinstance(found, dict) and "detail" in found
    }
    refused = {name for name, found in detailed.items() if found["endings"] == ["refused"] * 2}
    assert refused == {"other_collective", "other_length", "other_dtype"}
    for name in ("other_reduce_op", "swapped_step"):
        assert CONTAINED[name]["detail"]["values"] == CONTAINED[name]["values"]


def test_each_element_is_computed_by_one_rank() -> None:
    assert CONTAINED["other_reduce_op"]["values"] == [[max(3, 4)] * 2 + [3 + 4] * 2] * 2
    assert CONTAINED["swapped_step"]["values"] == [[16.0, 9.0], [9.0, 16.0]]


def test_an_integer_and_a_float_add_their_bits() -> None:
    one = struct.unpack(">Q", struct.pack(">d", 1.0))[0]
    as_integers, as_floats = one + 1, one  # 1.0 + 5e-324 is 1.0
    bits = [f"0x{value:016x}" for value in (as_integers, as_integers, as_floats, as_floats)]
    left, right = CONTAINED["other_dtype"]["values"]
    assert left["bits"] == right["bits"] == bits
    assert left["read_as"] == [str(int(value, 16)) for value in bits]
    read = [struct.unpack(">d", bytes.fromhex(value[2:]))[0] for value in bits]
    assert right["read_as"] == [str(value) for value in read]


def test_every_observation_holds_and_what_decided_it_is_hashed() -> None:
    assert [claim["name"] for claim in RECORD.claims if not claim["held"]] == []
    assert {"experiments/contained.py", "experiments/mismatched_calls.py"} <= RECORD.sources.keys()
