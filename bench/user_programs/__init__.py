"""What users with intermediates of n x n bring: short programs in plain JAX, a file per subject.

PROGRAMS has all of them by name; bench/users.py runs them.
"""

from user_programs import (
    attention,
    convolutions,
    distances,
    kernels,
    learning,
    matrices,
    physics,
    sequences,
    statistics,
)
from user_programs.registry import PROGRAMS

__all__ = ["PROGRAMS"]
