"""What small limits cost on GPUs and TPUs: trips of loops and predicted times of a kernel matrix of
100,003 points times a vector, and of the 10 nearest of 50,000 points, by weir's estimate.

    .venv/bin/python bench/device_limits.py

Prints a table for docs/devices.md. Takes a minute; nothing is compiled.
"""

import jax
import jax.numpy as jnp

import weir

DEVICES = ["l4", "h100", "v5e"]
LIMITS = ["16MB", "32MB", "64MB", "256MB", "1GB", "4GB"]


def distances(x):
    squares = jnp.sum(x * x, 1)
    return squares[:, None] + squares[None, :] - 2 * x @ x.T


def kernel(x, v):
    return jnp.exp(-distances(x) / 2) @ v


def neighbours(x):
    return jax.lax.top_k(-distances(x), 10)


def shape(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


PROGRAMS = {
    "kernel matrix times vector": (kernel, (shape(100_003, 10), shape(100_003))),
    "nearest neighbours": (neighbours, (shape(50_000, 32),)),
}


def cell(plan):
    if plan.outcome == "refused":
        return "no"
    if plan.outcome != "rewritten":
        return "fits"
    slower = plan.time_after_ns / max(plan.time_before_ns, 1)
    return f"{sum(loop.trips for loop in plan.loops):,}, {slower:.1f}×"


def main():
    print("| program | card |", " | ".join(LIMITS), "|")
    print("| --- " * (len(LIMITS) + 2) + "|")
    for name, (f, shapes) in PROGRAMS.items():
        for device in DEVICES:
            plans = (weir.plan(f, *shapes, limit=limit, device=device) for limit in LIMITS)
            print(f"| {name} | {device} |", " | ".join(map(cell, plans)), "|", flush=True)


if __name__ == "__main__":
    main()
