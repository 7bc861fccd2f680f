"""parameter_groups: numbers of the contract, and a torch module counted tensor by tensor."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import values, verdict

NAME = "parameter_groups"


def test_the_124m_layout() -> None:
    found = values(NAME)
    assert (found["decayed_tensors"], found["decayed_parameters"]) == (50, 124354560)
    assert (found["undecayed_tensors"], found["undecayed_parameters"]) == (98, 121344)
    assert found["total_parameters"] == 124354560 + 121344
    assert found["tied_counted_twice"] == found["total_parameters"] + 50304 * 768
    assert found["bytes"] == dict.fromkeys(
        ("parameters", "gradients", "m", "v"), 4 * found["total_parameters"]
    )
    assert (verdict(NAME), verdict(NAME, tied=False)) == ("tied", "untied")


class Block(torch.nn.Module):
    """A GPT block's tensors; it computes nothing."""

    def __init__(self, width: int, bias: bool) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width, bias=bias) for _ in range(2))
        sizes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
        self.linears = torch.nn.ModuleList(torch.nn.Linear(i, o, bias=bias) for i, o in sizes)


@pytest.mark.parametrize("tied", [True, False])
@settings(deadline=None, max_examples=20)
@given(st.integers(1, 3), st.integers(1, 8), st.integers(1, 9), st.integers(1, 7), st.booleans())
def test_counts_are_those_of_a_module(
    tied: bool, layers: int, width: int, vocabulary: int, context: int, bias: bool
) -> None:
    model = torch.nn.ModuleList(
        [torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(context, width)]
        + [Block(width, bias) for _ in range(layers)]
        + [torch.nn.LayerNorm(width, bias=bias)]
    )
    head = torch.nn.Linear(width, vocabulary, bias=False)
    if tied:
        head.weight = model[0].weight
    model.append(head)
    tensors = list(model.parameters())
    decayed = [tensor for tensor in tensors if tensor.dim() >= 2]
    found = values(
        NAME, layers=layers, width=width, vocabulary=vocabulary, context=context,
        tied=tied, bias=bias,
    )  # fmt: skip
    assert found["decayed_tensors"] == len(decayed)
    assert found["decayed_parameters"] == sum(tensor.numel() for tensor in decayed)
    assert found["undecayed_tensors"] == len(tensors) - len(decayed)
    assert found["total_parameters"] == sum(tensor.numel() for tensor in tensors)
