"""What other people's programs take for the cases of bench/kernels.py, on NumPy arrays.

    python bench/peers.py CASE PEER [SCALE]     prints {"seconds", "cpu_seconds", "grown", "peak",
                                                        "sum", "version"}

Needs what peers.txt lists (GPflow: gpflow.txt). Each peer is built and used as its makers advise:
KeOps compiled for this machine, FAISS with its BLAS path on, attention as the fused operator of the
runtime, PyTorch's other programs as a user writes them and torch.compile makes them (C++ of its
own, through g++). Building, indexing, compiling and the first call are not counted.
"""

import importlib.metadata
import json
import os
import sys

os.environ.setdefault("CXXFLAGS", "-march=native -ffast-math")
os.environ.setdefault("PYKEOPS_VERBOSE", "0")

import numpy as np  # noqa: E402
from kernel_cases import CASES, inputs  # noqa: E402
from measure import measured  # noqa: E402

K = 10


# ---- KeOps: a formula in i and j, reduced over j ----
SQUARES = "SqDist(x, y)"
R = f"Sqrt(IntCst(3) * {SQUARES})"
GAUSS = f"Exp(-{SQUARES} / IntCst(2))"
KERNELS = {
    "matvec": GAUSS,
    "matern": f"((IntCst(1) + {R}) * Exp(-{R}))",
    "cauchy": f"Inv(IntCst(1) + {SQUARES})",
}


def reduction(case, formula, over="Sum", arguments=(), **named):
    from pykeops.numpy import Genred

    kinds = [f"x = Vi({case.d})", f"y = Vj({case.d})", *arguments]
    return Genred(formula, kinds, reduction_op=over, axis=1, **named)


def keops(case, arrays):
    program = case.program
    if program in KERNELS:
        f = reduction(case, f"{KERNELS[program]} * b", arguments=["b = Vj(1)"])
        x, v = arrays
        return lambda: f(x, x, v[:, None])
    if program == "gradient":
        return keops_gradient(case, *arrays)
    if program in ("knn", "knn_l1", "cosine"):
        formula = {"knn": SQUARES, "knn_l1": "Sum(Abs(x - y))", "cosine": "-(x | y)"}[program]
        f = reduction(case, formula, "ArgKMin", opt_arg=K)
        y, q = map(unit, arrays) if program == "cosine" else arrays
        return lambda: (None, f(q, y))
    if program == "kde":
        f = reduction(case, f"-IntCst(2) * {SQUARES}", "LogSumExp")
        x, y = arrays
        return lambda: f(y, x)
    if program == "sinkhorn":
        return keops_sinkhorn(case, *arrays)
    if program == "chamfer":
        return keops_chamfer(case, *arrays)
    raise KeyError(program)


def keops_gradient(case, x, v):
    """K v is symmetric: the gradient in x is twice that of its rows; the lengthscale's follows."""
    lengthscale, v = x.dtype.type(1.5), v[:, None]
    f = reduction(case, f"Grad({GAUSS} * b, x, e)", arguments=["b = Vj(1)", "e = Vi(1)"])

    def run():
        z = x / lengthscale
        slope = 2 * f(z, z, v, v)
        return -(slope * z).sum() / lengthscale, slope / lengthscale

    return run


def keops_sinkhorn(case, x, y):
    f = reduction(case, f"b - {SQUARES}", "LogSumExp", ["b = Vj(1)"])

    def run():
        a = np.zeros((len(x), 1), x.dtype)
        for _ in range(3):
            b = -f(y, x, a)
            a = -f(x, y, b)
        return a

    return run


def keops_chamfer(case, x, y):
    f = reduction(case, SQUARES, "ArgMin")

    def run():
        near, far = f(x, y)[:, 0].astype(int), f(y, x)[:, 0].astype(int)
        dx, dy = x - y[near], y - x[far]
        gx, gy = 2 * dx / len(x), 2 * dy / len(y)
        np.subtract.at(gy, near, 2 * dx / len(x))
        np.subtract.at(gx, far, 2 * dy / len(y))
        return (dx**2).sum(1).mean() + (dy**2).sum(1).mean(), gx, gy

    return run


# ---- neighbours ----
def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def faiss(case, arrays):
    import faiss

    faiss.cvar.distance_compute_blas_threshold = 20  # its default takes the path without BLAS
    metric = {
        "knn": faiss.METRIC_L2,
        "knn_l1": faiss.METRIC_L1,
        "cosine": faiss.METRIC_INNER_PRODUCT,
    }[case.program]
    y, q = map(unit, arrays) if case.program == "cosine" else arrays
    index = faiss.IndexFlat(case.d, metric)
    index.add(y)
    sign = 1 if case.program == "cosine" else -1

    def run():
        found, where = index.search(q, K)
        return sign * found, where

    return run


def sklearn(case, arrays):
    from sklearn.neighbors import NearestNeighbors

    metric = {"knn": "sqeuclidean", "knn_l1": "manhattan", "cosine": "cosine"}[case.program]
    y, q = arrays
    index = NearestNeighbors(n_neighbors=K, algorithm="brute", metric=metric, n_jobs=-1).fit(y)

    def run():
        found, where = index.kneighbors(q)
        return (1 - found if metric == "cosine" else -found), where

    return run


# ---- attention ----
def onnxruntime(case, arrays):
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper

    heads, n, d = arrays[0].shape
    flat = [np.ascontiguousarray(a.transpose(1, 0, 2).reshape(1, n, heads * d)) for a in arrays]
    names = ("q", "k", "v")
    node = helper.make_node(
        "MultiHeadAttention", list(names), ["out"], domain="com.microsoft", num_heads=heads
    )
    values = [helper.make_tensor_value_info(x, TensorProto.FLOAT, flat[0].shape) for x in names]
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, flat[0].shape)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(
        helper.make_graph([node], "attention", values, [out]), opset_imports=opsets, ir_version=10
    )
    onnx.checker.check_model(model)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda: session.run(None, dict(zip(names, flat)))[0]


def openvino(case, arrays):
    import openvino as ov
    from openvino import opset13 as ops

    batch = [a[None] for a in arrays]
    parameters = [ops.parameter(batch[0].shape, np.float32) for _ in batch]
    result = ops.scaled_dot_product_attention(*parameters, causal=False)
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    compiled = ov.compile_model(ov.Model([result], parameters, "attention"), "CPU", settings)
    return lambda: compiled(batch)[0]


# ---- PyTorch: its fused attention; other programs through torch.compile ----
def torch(case, arrays):
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention

    q, k, v = (torch.from_numpy(a)[None] for a in arrays)
    if case.program == "attention":
        return torch.no_grad()(lambda: attention(q, k, v)[0].numpy())

    def run():
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        loss = (attention(*leaves) ** 2).sum()
        return loss.item(), torch.autograd.grad(loss, leaves)

    return run


def torch_squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def torch_matvec(x, v):
    return (-0.5 * torch_squares(x, x)).exp() @ v


def torch_cauchy(x, v):
    return (1 / (1 + torch_squares(x, x))) @ v


def torch_gradient(x, v):
    import torch

    scale = torch.full((), 1.5, dtype=x.dtype, requires_grad=True)
    x = x.detach().requires_grad_()
    value = v @ torch_matvec(x / scale, v)
    return torch.autograd.grad(value, (scale, x))


def torch_kde(x, y):
    return (-2 * torch_squares(y, x)).logsumexp(1)


def torch_knn(y, q):
    return ((2 * q) @ y.T - (q * q).sum(1)[:, None] - (y * y).sum(1)).topk(K)


def torch_knn_l1(y, q):
    return (-(q[:, None] - y[None]).abs().sum(-1)).topk(K)


def torch_cosine(y, q):
    y, q = (a / a.norm(dim=1, keepdim=True) for a in (y, q))
    return (q @ y.T).topk(K)


def torch_sinkhorn(x, y):
    f = x.new_zeros(len(x))
    for _ in range(3):
        g = -(f - torch_squares(y, x)).logsumexp(1)
        f = -(g - torch_squares(x, y)).logsumexp(1)
    return f


def torch_cross_entropy(x, w, labels):
    import torch

    x, w = (a.detach().requires_grad_() for a in (x, w))
    loss = torch.nn.functional.cross_entropy(x @ w.T, labels.long())
    return loss.detach(), *torch.autograd.grad(loss, (x, w))


def torch_compile(case, arrays):
    """Where gradients are asked for, the forward program is compiled with its backward one."""
    import torch

    plain = globals()[f"torch_{case.program}"]
    tensors = [torch.from_numpy(a) for a in arrays]
    with_gradients = case.program in ("gradient", "cross_entropy")
    compiled = torch.compile(plain, dynamic=False)

    def run():
        with torch.set_grad_enabled(with_gradients):
            return compiled(*tensors)

    run()
    return run


# ---- scikit-learn with Intel's extension ----
def sklearnex(case, arrays):
    from sklearnex import patch_sklearn

    patch_sklearn(verbose=False)
    return sklearn(case, arrays)


# ---- transport: the same number of steps, between uniform weights, so that potentials differ ----
def pot(case, arrays):
    """In batches, which never have the matrix."""
    import ot

    def run():
        found = ot.bregman.empirical_sinkhorn(
            *arrays, reg=1.0, isLazy=True, numIterMax=3, stopThr=0, batchSize=512, warn=False
        )
        return None, found

    return run


def ott(case, arrays):
    import jax
    from ott.geometry import pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    solver = sinkhorn.Sinkhorn(
        threshold=0.0, inner_iterations=3, min_iterations=3, max_iterations=3
    )

    @jax.jit
    def solve(x, y):
        cloud = pointcloud.PointCloud(x, y, epsilon=1.0, batch_size=512)
        out = solver(linear_problem.LinearProblem(cloud))
        return out.f, out.g

    arrays = [jax.device_put(a) for a in arrays]
    return lambda: (None, jax.block_until_ready(solve(*arrays)))


# ---- GPyTorch: its kernel as a linear operator ----
def gpytorch(case, arrays):
    import gpytorch
    import torch

    x, v = map(torch.from_numpy, arrays)
    kernel = gpytorch.kernels.RBFKernel().to(x.dtype)
    kernel.lengthscale = 1.5 if case.program == "gradient" else 1.0
    if case.program == "matvec":
        return torch.no_grad()(lambda: (kernel(x, x) @ v).numpy())

    def run():
        points = x.detach().requires_grad_()
        value = v @ (kernel(points, points) @ v)
        slopes = torch.autograd.grad(value, (kernel.raw_lengthscale, points))
        return None, slopes

    return run


# ---- sparse Gaussian process regression ----
def gpflow(case, arrays):
    import gpflow as gp
    import tensorflow as tf

    z, hyper, x, y = arrays
    kernel = gp.kernels.SquaredExponential(variance=hyper[-2], lengthscales=hyper[:-2])
    data = (tf.constant(x), tf.constant(y[:, None]))
    model = gp.models.SGPR(data, kernel, inducing_variable=z, noise_variance=hyper[-1])

    @tf.function
    def value_and_gradients():
        with tf.GradientTape() as tape:
            bound = model.elbo()
        return bound, tape.gradient(bound, model.trainable_variables)

    return value_and_gradients


PEERS = {
    f.__name__: f
    for f in (
        *(keops, faiss, sklearn, sklearnex, onnxruntime, openvino, gpflow),
        *(torch, torch_compile, pot, ott, gpytorch),
    )
}
PACKAGES = {  # whose version counts, where it is not the peer's name
    "keops": "pykeops",
    "faiss": "faiss-cpu",
    "sklearn": "scikit-learn",
    "sklearnex": "scikit-learn-intelex",
    "torch_compile": "torch",
    "ott": "ott-jax",
}


def checksum(out):
    first = out[0] if isinstance(out, (tuple, list)) else out
    if first is None:
        return None
    first = first.detach().numpy() if hasattr(first, "detach") else first
    return float(np.sum(np.asarray(first, np.float64)))


def main():
    name, peer, *scale = sys.argv[1:]
    case = CASES[name]
    run = PEERS[peer](case, inputs(case, case.n // int(scale[0] if scale else 1)))
    if peer == "keops":  # compiles its formula
        PEERS[peer](case, inputs(case, 100))()
    if peer == "gpflow":  # traces its graph
        run()
    found, out = measured(run)
    version = importlib.metadata.version(PACKAGES.get(peer, peer))
    print(json.dumps(found | {"sum": checksum(out), "version": version}))


if __name__ == "__main__":
    main()
