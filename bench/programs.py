"""Registry of the programs that must run under a limit: sizes, limits, hand-split versions, checks.

A program is examples/<module>.py's function <function>; nothing there knows of a limit.  The limit
counts everything: arguments, results and temporaries.
"""

import dataclasses
import importlib
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(HERE), "examples")
TOLERANCE = {"f64": 1e-10, "f32": 1e-4, "i32": 0.0}
P7_LIMIT = 4_000_000 * 10 + 100 * 256 * 4 + 3 * 4_000_000  # inputs, outputs, three temporaries


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    title: str
    module: str
    limit_bytes: int
    dtype: str
    chunked: str = None  # function of chunked.py, if there is a version split by hand
    rows: int = 0  # its block length
    function: str = "run"
    neighbours: str = ""  # the metric, if the outputs are distances and indices of neighbours
    refusal: str = ""  # infeasible under the limit: what the refusal must name
    small: dict = None  # sizes of the small version for the tests
    small_limit_bytes: int = 0
    small_rows: int = 0

    @property
    def tolerance(self):
        return TOLERANCE[self.dtype]

    def error(self, got, want, inputs):
        if self.neighbours:
            return neighbour_error(got, want, inputs, self.neighbours)
        return scaled_error(got, want)

    def load(self):
        if EXAMPLES not in sys.path:
            sys.path.insert(0, EXAMPLES)
        return importlib.import_module(self.module)

    def sizes(self, overrides):
        sizes = dict(self.load().sizes)
        unknown = set(overrides) - set(sizes)
        if unknown:
            raise SystemExit(
                "%s has no size %s, only %s" % (self.name, ", ".join(unknown), ", ".join(sizes))
            )
        return {**sizes, **overrides}


PROGRAMS = [
    Program(
        "p1",
        "SE kernel matvec, f64, n = 100,003, d = 10",
        "p1_kernel_matvec",
        256_000_000,
        "f64",
        "kernel_matvec",
        64,
        small=dict(n=6007, d=10),
        small_limit_bytes=24_000_000,
        small_rows=128,
    ),
    Program(
        "p2",
        "kNN L2 expanded, f32, n = 500k, m = 1000",
        "p2_knn",
        192_000_000,
        "f32",
        "knn_expanded",
        16,
        neighbours="squared",
        small=dict(n=100_003, m=503, d=20, k=10),
        small_limit_bytes=24_000_000,
        small_rows=8,
    ),
    Program(
        "p2b",
        "kNN L2 broadcast, f32, n = 500k, m = 1000",
        "p2_knn",
        192_000_000,
        "f32",
        "knn_broadcast",
        16,
        function="run_broadcast",
        neighbours="squared",
        small=dict(n=100_003, m=503, d=20, k=10),
        small_limit_bytes=24_000_000,
        small_rows=8,
    ),
    Program(
        "p3",
        "SGPR bound and gradients, f64, n = 200k, m = 500",
        "p3_sgpr",
        160_000_000,
        "f64",
        "sgpr",
        1000,
        small=dict(n=50_021, d=8, m=100),
        small_limit_bytes=24_000_000,
        small_rows=1000,
    ),
    Program(
        "p4",
        "vmap(.at[i].set(7).sum()), f32, n = 100,000",
        "p4_vmap_set",
        64_000_000,
        "f32",
        "vmap_set",
        16,
        small=dict(n=10_007),
        small_limit_bytes=8_000_000,
        small_rows=64,
    ),
    Program(
        "p5",
        "attention forward, f32, 8 x 16,384 x 64",
        "p5_attention",
        256_000_000,
        "f32",
        "attention",
        128,
        small=dict(batch=1, heads=4, sequence=4096, width=32),
        small_limit_bytes=24_000_000,
        small_rows=64,
    ),
    Program(
        "p6",
        "linear + cross-entropy, value and gradients, f32, 2048 x 512 x 128,256",
        "p6_cross_entropy",
        700_000_000,
        "f32",
        "cross_entropy",
        4008,
        small=dict(n=512, d=64, vocabulary=40_080),
        small_limit_bytes=40_000_000,
        small_rows=2004,
    ),
    Program(
        "p7",
        "100 pairwise bincounts, i32, n = 1e6",
        "p7_bincounts",
        P7_LIMIT,
        "i32",
        "bincounts",
        20_000,
        small=dict(n=250_000, columns=10),
        small_limit_bytes=P7_LIMIT // 4 + 100_000,
        small_rows=50_000,
    ),
    Program(
        "p8",
        "MLP inference, f32, 1e6 x 64 - 4096 - 10",
        "p8_mlp",
        512_000_000,
        "f32",
        "mlp",
        512,
        small=dict(n=20_011, d=64, hidden=4096, classes=10),
        small_limit_bytes=24_000_000,
        small_rows=512,
    ),
    Program(
        "p9",
        "Sinkhorn, 20 iterations, f32, 20,011 x 20,011",
        "p9_sinkhorn",
        64_000_000,
        "f32",
        "sinkhorn",
        64,
        small=dict(n=4003, m=3001, d=3),
        small_limit_bytes=8_000_000,
        small_rows=64,
    ),
    Program(
        "p10",
        "Cholesky, f64, 8192: infeasible",
        "p10_cholesky",
        256_000_000,
        "f64",
        refusal="Arguments and results alone",
        small=dict(n=1024),
        small_limit_bytes=8_000_000,
    ),
    Program(
        "nbody",
        "gravity of all pairs and its gradient, f32, n = 20,000",
        "nbody",
        64_000_000,
        "f32",
        small=dict(n=3001),
        small_limit_bytes=24_000_000,
    ),
    Program(
        "graph_attention",
        "a step of training a graph attention layer, f32, 4 x 8000 x 8000",
        "graph_attention",
        64_000_000,
        "f32",
        small=dict(nodes=2003, features=32, heads=4),
        small_limit_bytes=24_000_000,
    ),
    Program(
        "large_batch",
        "a step of training a convolutional network, f32, batch 8192",
        "large_batch",
        256_000_000,
        "f32",
        small=dict(batch=1024, width=32),
        small_limit_bytes=40_000_000,
    ),
    Program(
        "attention_grad",
        "attention forward and backward, f32, 8 x 8,192 x 64",
        "attention_grad",
        400_000_000,
        "f32",
        "attention_grad",
        128,
        small=dict(batch=1, heads=4, sequence=2048, width=32),
        small_limit_bytes=32_000_000,
        small_rows=64,
    ),
]

# Further programs of the paper's experiments; bench/paper.py chooses sizes and limits.
PAPER = [
    Program(
        "knn_manhattan",
        "kNN L1",
        "p2_knn",
        0,
        "f32",
        "knn_manhattan",
        1,
        function="run_manhattan",
        neighbours="manhattan",
    ),
    Program(
        "knn_cosine",
        "kNN cosine",
        "p2_knn",
        0,
        "f32",
        "knn_cosine",
        16,
        function="run_cosine",
        neighbours="cosine",
    ),
    Program("encoder", "transformer encoder, forward", "encoder", 0, "f32", "encoder", 256),
    Program(
        "wide_mlp",
        "very wide hidden layer, full batch, value and gradients",
        "wide_mlp",
        0,
        "f32",
        "wide_mlp",
        100,
    ),
    Program(
        "kernel_cg",
        "conjugate gradients with a preconditioner",
        "kernel_cg",
        0,
        "f64",
        "kernel_cg",
        64,
    ),
]


def get(name):
    for p in PROGRAMS + PAPER:
        if p.name == name:
            return p
    raise SystemExit("no program %r, only %s" % (name, ", ".join(p.name for p in PROGRAMS + PAPER)))


def scaled_error(got, want):
    """Largest |got - want| / max|want|, the worst over the outputs; NaN counts as infinite."""
    if len(got) != len(want):
        return float("inf")
    worst = 0.0
    for g, w in zip(got, want):
        g, w = np.asarray(g, np.float64), np.asarray(w, np.float64)
        if g.shape != w.shape:
            return float("inf")
        error = np.max(np.abs(g - w), initial=0.0) / (np.max(np.abs(w), initial=0.0) or 1.0)
        worst = max(worst, float("inf") if np.isnan(error) else float(error))
    return worst


def true_distance(metric, queries, neighbours):
    if metric == "manhattan":
        return np.sum(np.abs(queries - neighbours), axis=-1)
    if metric == "cosine":
        lengths = np.linalg.norm(queries, axis=-1) * np.linalg.norm(neighbours, axis=-1)
        return 1.0 - np.sum(queries * neighbours, axis=-1) / lengths
    return np.sum((queries - neighbours) ** 2, axis=-1)


def neighbour_error(got, want, inputs, metric):
    """Scaled error of the distances, and of the true distances of the returned indices."""
    data, queries = (np.asarray(a, np.float64) for a in inputs[:2])
    index = np.asarray(got[1])
    if index.shape != want[1].shape or index.min() < 0 or index.max() >= len(data):
        return float("inf")
    if any(len(set(row)) != len(row) for row in index.tolist()):
        return float("inf")
    true = true_distance(metric, queries[:, None, :], data[index])
    return max(scaled_error(got[:1], want[:1]), scaled_error([np.sort(true, 1)], want[:1]))
