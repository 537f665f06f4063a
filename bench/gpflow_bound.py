"""The SGPR bound as GPflow computes it; runs in an environment of its own (bench/paper.py sgpr).

In:   argv[1]: an .npz with x, y, inducing, lengthscales, variance, noise.
Out:  the bound, on stdout.
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import gpflow  # noqa: E402
import numpy as np  # noqa: E402


def main():
    given = np.load(sys.argv[1])
    kernel = gpflow.kernels.SquaredExponential(
        variance=float(given["variance"]), lengthscales=given["lengthscales"]
    )
    model = gpflow.models.SGPR(
        (given["x"], given["y"][:, None]),
        kernel,
        inducing_variable=given["inducing"],
        noise_variance=float(given["noise"]),
    )
    print(repr(float(model.elbo())))


if __name__ == "__main__":
    main()
