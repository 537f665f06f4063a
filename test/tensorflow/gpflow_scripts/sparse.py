"""Sparse regression, SGPR with an ARD kernel, by Scipy."""

import gpflow
import numpy as np

rng = np.random.default_rng(3)
X = rng.random((3000, 3))
Y = np.sin(6 * X[:, :1]) + X[:, 1:2] ** 2 + 0.1 * rng.standard_normal((3000, 1))

kernel = gpflow.kernels.Matern32(lengthscales=[1.0, 1.0, 1.0])
model = gpflow.models.SGPR((X, Y), kernel, inducing_variable=X[:30].copy())
opt = gpflow.optimizers.Scipy()
opt.minimize(model.training_loss, model.trainable_variables, options={"maxiter": 3})
mean, var = model.predict_f(rng.random((20, 3)))
results = [model.elbo(), model.upper_bound(), mean, var]
