"""A sample of what users bring (bench/user_programs), small, under a tenth of their temporaries:
same results, and XLA's own report of what runs is within the limit. `bench/users.py --small` runs
all.
"""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import running
import weir
from held import reported_bytes

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
import users  # noqa: E402

SAMPLE = [
    "mmd_grad",
    "thin_plate",
    "spectral",
    "nbody",
    "smoothed_particles",
    "heat",
    "life",
    "haversine",
    "knn_graph",
    "sinkhorn_until",
    "topk_attention",
    "bf16_attention_grad",
    "simclr_grad",
    "triplet_hard_grad",
    "retention",
    "hawkes",
    "gmm_em",
    "edit_distance",
    "griffin_grad",
    "denoiser_grad",
    "kalman_smoother",
    "neighbour_list",
    "compaction",
    "resnet_step",
    "depthwise_step",
    "autoencoder_step",
]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_tenth_of_the_temporaries_does(name):
    program = users.PROGRAMS[name]
    with jax.enable_x64(program.x64):
        arguments = program.arguments(small=True)
        lowered = jax.jit(program.function).lower(*arguments)
        stock = lowered.compile()
        m = stock.memory_analysis()
        needs = m.argument_size_in_bytes, m.output_size_in_bytes, m.temp_size_in_bytes
        limit = users.limit_of(*needs, 0.1)
        with weir.limit(limit):
            limited = jax.jit(program.function).lower(*arguments).compile()
        assert weir.last_report().outcome == "rewritten"
        assert reported_bytes(limited) <= limit < reported_bytes(stock) / 1.5
        leaves = (jax.tree.leaves(c(*arguments)) for c in (stock, limited))
        want, got = (list(map(users.as_numpy, x)) for x in leaves)
    assert users.worst_error(program, got, want) <= program.tolerance
    assert all(np.isfinite(w).all() for w in want)


def test_an_error_is_seen():
    program = users.PROGRAMS["hamming"]
    whole, half = np.array([1, 2]), np.array([1.0, np.inf])
    assert users.worst_error(program, [whole, half], [whole, half]) == 0
    assert users.worst_error(program, [np.array([1, 3])], [whole]) == 0.5
    assert users.worst_error(program, [np.array([1.0, 2.0])], [half]) == float("inf")
    assert users.worst_error(program, [np.array([1.0, np.nan])], [half]) == float("inf")
    assert users.worst_error(program, [whole], [whole, half]) == float("inf")


@pytest.mark.slow
@pytest.mark.parametrize("mode, said", [("--kernels", "1 of 1 with kernels"), ("--fits", "1 of 1 rewritten")])
def test_a_table(mode, said):
    """Of one program: how long it takes is not asked, and whether it has kernels not by what was
    measured of the computer.
    """
    command = [sys.executable, users.__file__, mode, "--small", "hsic"]
    environment = os.environ | {"WEIR_MACHINE": running.machine()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    row, _, end = done.stdout.splitlines()[-3:]
    assert row.startswith("| hsic |") and end.startswith(said), done.stderr
