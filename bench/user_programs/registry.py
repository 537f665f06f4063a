"""Where the programs of users are listed: @program before each, @by_hand before what does the
same in blocks of rows.
"""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass
class Program:
    function: Callable
    inputs: Callable  # (n, Random) -> arguments
    n: int
    small: int  # the n of a tenth of the memory
    x64: bool
    tolerance: float  # relative to the largest value; of integers the share that differs
    why: str  # the tolerance is looser than its type's
    counts: bool  # integers are counts: compared as numbers
    refused: str  # why a tenth of the temporaries is known not to do
    share: float | None  # of the temporaries, where another share than asked for is known to do
    by_hand: Callable | None = None

    def arguments(self, small):
        dtype = np.float64 if self.x64 else np.float32
        return self.inputs(self.small if small else self.n, Random(dtype))


class Random:
    """Inputs in the program's type, the same in each process."""

    def __init__(self, dtype):
        self.rng = np.random.default_rng(0)
        self.dtype = dtype

    def normal(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(self.dtype)

    def uniform(self, *shape):
        return self.rng.random(shape).astype(self.dtype)

    def integers(self, below, *shape, dtype=np.int32):
        return self.rng.integers(0, below, shape, dtype)

    def bits(self, *shape):
        return self.rng.integers(0, 2**32, shape, np.uint32)

    def bools(self, share, *shape):
        return self.rng.random(shape) < share

    def array(self, values):
        return np.asarray(values, self.dtype)


PROGRAMS = {}


def program(
    n, small, inputs, x64=False, tolerance=None, why="", counts=False, refused="", share=None
):
    assert (tolerance is None) == (not why), "a tolerance of its own needs a reason"

    def add(function):
        assert function.__name__ not in PROGRAMS and function.__doc__
        most = tolerance or (1e-10 if x64 else 1e-4)
        PROGRAMS[function.__name__] = Program(
            function, inputs, n, small, x64, most, why, counts, refused, share
        )
        return function

    return add


def by_hand(whole):
    def add(function):
        PROGRAMS[whole.__name__].by_hand = function
        return function

    return add
