"""The cases of bench/kernels.py: what is computed, at which size, beside whom; and their inputs."""

import dataclasses

import numpy as np


KERNEL_PEERS = ("keops", "torch_compile")
TRANSPORT_PEERS = (*KERNEL_PEERS, "pot", "ott")
CHOSEN = ("neighbour_sums", "neighbour_distances", "chosen_keys")  # rows of a table


@dataclasses.dataclass(frozen=True)
class Case:
    """One program of kernel_programs.py."""

    program: str
    n: int  # the length that --scale divides
    dtype: str
    limit_mb: int | None  # above arguments and results; None: a limit that nothing reaches
    rows: int = 0  # of a block, split by hand; 0: nothing is split
    d: int = 0
    m: int = 0  # queries; heads; words of the vocabulary
    square: bool = True  # the intermediate is n x n, else n x m
    c: str = ""  # reference/<c>.c
    peers: tuple = ()  # of peers.py
    ways: tuple = ()  # only these; (): all

    def intermediate_bytes(self, n):
        if not self.rows:
            return 0
        heads = self.m if self.program.startswith("attention") else 1
        deep = self.d if self.program in CHOSEN else 1
        return n * (n * heads if self.square else self.m * deep) * (8 if self.dtype == "f64" else 4)


def points(program, n, dtype, c="", peers=("keops", "torch_compile"), rows=64, ways=()):
    return Case(program, n, dtype, 32, rows, 3, c=c, peers=peers, ways=ways)


def neighbours(n, d, m=1000, program="knn", c="knn", limit_mb=64, rows=16):
    peers = ("faiss", "sklearn", "sklearnex")
    if n * d * m < 5e11:
        peers += ("keops", "torch_compile")
    return Case(program, n, "f32", limit_mb, rows, d, m, False, c, peers)


def attention(n, gradient=False):
    name = "attention_grad" if gradient else "attention"
    peers = ("torch",) if gradient else ("onnxruntime", "openvino", "torch")
    return Case(name, n, "f32", 96 + n // 64, 128, 64, 8, peers=peers)


def chosen(program, n, m):
    """m of n rows, for each row; the intermediate is n x m x d."""
    return Case(program, n, "f32", 32, 128, 64, m, False)


def sgpr(m, limit_mb):
    return Case("sgpr", 100_000, "f64", limit_mb, 0, 8, m, peers=("gpflow",))


CASES = {
    "matvec_f64": points("matvec", 100_000, "f64", "matvec", (*KERNEL_PEERS, "gpytorch")),
    "matvec_f64_1e6": Case("matvec", 1_000_000, "f64", 32, 64, 3, ways=("weir",)),
    "matvec_f32": points("matvec", 100_000, "f32", "matvec", rows=128),
    "matvec_d16": Case("matvec", 50_000, "f32", 32, 128, 16, peers=KERNEL_PEERS),
    "matvec_d64": Case("matvec", 50_000, "f32", 32, 128, 64, peers=KERNEL_PEERS),
    "bilinear": Case("bilinear", 1500, "f32", 2, 64, 16, 8),
    "matern_f64": points("matern", 50_000, "f64", peers=("keops",)),
    "cauchy_f64": points("cauchy", 50_000, "f64"),
    "gradient_f64": points("gradient", 50_000, "f64", peers=(*KERNEL_PEERS, "gpytorch")),
    "gradient_f32": points("gradient", 50_000, "f32"),
    "knn_d3": neighbours(1_000_000, 3),
    "knn_d3_m10000": neighbours(1_000_000, 3, 10_000),
    "knn_d100": neighbours(1_000_000, 100),
    "knn_d100_m10000": neighbours(1_000_000, 100, 10_000),
    "knn_1e7_d10": neighbours(10_000_000, 10),
    "knn_l1_d100": neighbours(1_000_000, 100, 100, "knn_l1", "", rows=4),
    "mnist_l2": neighbours(60_000, 784),
    "mnist_l1": neighbours(60_000, 784, 100, "knn_l1", "", rows=4),
    "glove_d50": neighbours(1_180_000, 50, 1000, "cosine", ""),
    "glove_d100": neighbours(1_180_000, 100, 1000, "cosine", ""),
    "glove_d200": neighbours(1_180_000, 200, 1000, "cosine", ""),
    "attention_1024": attention(1024),
    "attention_2048": attention(2048),
    "attention_4096": attention(4096),
    "attention_8192": attention(8192),
    "attention_16384": attention(16384),
    "attention_grad_1024": attention(1024, True),
    "attention_grad_2048": attention(2048, True),
    "attention_grad_4096": attention(4096, True),
    "attention_grad_8192": attention(8192, True),
    "sinkhorn": points("sinkhorn", 20_000, "f32", rows=128, peers=TRANSPORT_PEERS, ways=("by hand", *TRANSPORT_PEERS)),
    "kde": points("kde", 50_000, "f32", rows=128),
    "chamfer_grad": points("chamfer", 20_000, "f32", rows=128, peers=("keops",)),
    "cross_entropy": Case(
        "cross_entropy", 4096, "f32", 256, 256, 512, 128_000, False, peers=("torch_compile",)
    ),
    "sgpr_m500": sgpr(500, 100),
    "sgpr_m1000": sgpr(1000, 200),
    "sgpr_m2000": sgpr(2000, 600),
    "neighbour_sums": chosen("neighbour_sums", 100_000, 16),
    "neighbour_distances": chosen("neighbour_distances", 100_000, 16),
    "chosen_keys": chosen("chosen_keys", 16_384, 64),
    "mandelbrot": Case("mandelbrot", 4000, "f32", 16, 64),
    "kepler": Case("kepler", 4000, "f32", 16, 64),
    "mlp_step": Case("mlp_step", 256, "f32", None),
    "resnet_block": Case("resnet_block", 32, "f32", None),
    "chain": Case("chain", 10_000_000, "f32", None),
}


def inputs(case, n):
    rng = np.random.default_rng(0)
    dtype = {"f64": np.float64, "f32": np.float32}[case.dtype]

    def random(*shape):
        return rng.standard_normal(shape, dtype)

    if case.program.startswith("attention"):
        return [random(case.m, n, case.d) for _ in range(3)]
    if case.program.startswith("knn") or case.program == "cosine":
        return [random(n, case.d), random(case.m, case.d)]
    if case.program in ("sinkhorn", "kde", "chamfer"):
        return [random(n, case.d), random(n, case.d)]
    if case.program == "bilinear":  # of m matrices
        return [random(n, case.d), random(case.m, case.d, case.d), random(n, case.d)]
    if case.program == "cross_entropy":
        labels = rng.integers(0, case.m, n).astype(np.int32)
        return [random(n, case.d), random(case.m, case.d) / dtype(case.d**0.5), labels]
    if case.program in CHOSEN:
        places = rng.integers(0, n, (n, case.m), np.int32)
        return [random(n, case.d), random(n, case.d), random(n, case.m), places]
    if case.program == "sgpr":  # inducing points; lengthscales, variance, noise; data
        x = random(n, case.d)
        z = x[: case.m] + 0.01 * random(case.m, case.d)
        y = np.sin(x @ random(case.d)) + 0.3 * random(n)
        return [z, np.array([*np.linspace(1.0, 2.0, case.d), 1.2, 0.1]), x, y]
    if case.program == "mlp_step":
        widths = (784, 1024, 1024, 10)
        layers = [random(a, b) / dtype(a**0.5) for a, b in zip(widths, widths[1:])]
        return [*layers, random(n, widths[0]), rng.integers(0, 10, n).astype(np.int32)]
    if case.program == "resnet_block":
        kernel = (3, 3, 64, 64)
        return [random(n, 56, 56, 64), random(*kernel) / dtype(24), random(*kernel) / dtype(24)]
    if case.program == "chain":
        return [random(n)]
    if case.program in ("mandelbrot", "kepler"):
        return [random(n), random(n)]
    return [random(n, case.d), random(n)]
