"""What other people's programs take for the cases of bench/kernels.py, on NumPy arrays.

    python bench/peers.py CASE PEER [SCALE]       prints {"seconds", "grown", "sum"}

Needs what peers.txt lists (GPflow: gpflow.txt). Each peer is built and used as its makers advise: KeOps compiled for
this machine, FAISS with its BLAS path on, attention as the fused operator of the runtime. Building,
indexing and the first call are not counted.
"""

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


PEERS = {f.__name__: f for f in (keops, faiss, sklearn, onnxruntime, openvino, gpflow)}


def checksum(out):
    first = out[0] if isinstance(out, (tuple, list)) else out
    return None if first is None else float(np.sum(np.asarray(first, np.float64)))


def main():
    name, peer, *scale = sys.argv[1:]
    case = CASES[name]
    run = PEERS[peer](case, inputs(case, case.n // int(scale[0] if scale else 1)))
    if peer == "keops":  # compiles its formula
        PEERS[peer](case, inputs(case, 100))()
    if peer == "gpflow":  # traces its graph
        run()
    found, out = measured(run)
    print(json.dumps(found | {"sum": checksum(out)}))


if __name__ == "__main__":
    main()
