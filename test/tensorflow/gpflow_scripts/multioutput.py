"""Several outputs that share a kernel and inducing points."""

import gpflow
import numpy as np

rng = np.random.default_rng(6)
N, M, P = 1500, 15, 3
X = 10 * rng.random((N, 1)) - 5
G = np.hstack((0.5 * np.sin(3 * X) + X, 3.0 * np.cos(X) - X))
W = np.array([[0.5, -0.3, 1.5], [-0.4, 0.43, 0.0]])
Y = G @ W + rng.standard_normal((N, P)) * [0.1, 0.1, 0.2]
data = X, Y

kernel = gpflow.kernels.SharedIndependent(
    gpflow.kernels.SquaredExponential() + gpflow.kernels.Linear(), output_dim=P
)
Z = gpflow.inducing_variables.SharedIndependentInducingVariables(
    gpflow.inducing_variables.InducingPoints(np.linspace(-5, 5, M)[:, None])
)
model = gpflow.models.SVGP(
    kernel, gpflow.likelihoods.Gaussian(), inducing_variable=Z, num_latent_gps=P
)
opt = gpflow.optimizers.Scipy()
opt.minimize(
    model.training_loss_closure(data),
    variables=model.trainable_variables,
    method="l-bfgs-b",
    options={"maxiter": 3},
)
mean, var = model.predict_y(np.linspace(-5, 5, 20)[:, None])
results = [model.elbo(data), mean, var]
