"""What many of the programs share."""

from jax import lax
from kernel_programs import squares

__all__ = ["squares", "expanded", "in_rows"]


def expanded(x, y):
    """Squared distances as most write them: |x|^2 + |y|^2 - 2 x y."""
    return (x**2).sum(1)[:, None] + (y**2).sum(1)[None] - 2 * x @ y.T


def in_rows(row, size, *arrays):
    """row of each row of the arrays, so many at a time."""
    return lax.map(lambda a: row(*a), arrays, batch_size=size)
