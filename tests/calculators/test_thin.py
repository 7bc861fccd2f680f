"""Long lines thinned for a screen: of their shape nothing is lost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from calculators.plots import thin

LINES = arrays.arrays(
    float, st.integers(1, 300), elements=st.floats(-1e6, 1e6, allow_subnormal=False)
)


@given(LINES, st.integers(1, 20))
def test_ends_and_extremes_are_kept(y: npt.NDArray[np.float64], buckets: int) -> None:
    x = np.arange(y.size) * 0.5
    points = thin(x, y, buckets)
    assert len(points) <= 3 * buckets + 1
    assert points == sorted(set(points))
    assert set(points) <= set(zip(x.tolist(), y.tolist(), strict=True))
    assert points[0] == (x[0], y[0])
    assert points[-1] == (x[-1], y[-1])
    heights = [height for _, height in points]
    assert min(heights) == y.min()
    assert max(heights) == y.max()


@given(LINES, st.integers(1, 20))
def test_a_point_of_each_stretch_is_kept(y: npt.NDArray[np.float64], buckets: int) -> None:
    x = np.arange(y.size)
    kept = [place for place, _ in thin(x, y, buckets)]
    widest = -(-y.size // buckets)
    assert max(np.diff(kept), default=0) <= widest


def test_a_short_line_stays_as_it_is() -> None:
    assert thin([1, 2, 3], [4, 5, 4], 1) == [(1.0, 4.0), (2.0, 5.0), (3.0, 4.0)]
