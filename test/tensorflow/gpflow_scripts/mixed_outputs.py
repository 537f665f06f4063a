"""Several outputs: latent processes that are mixed, with inducing points that they share."""

import gpflow
import numpy as np

rng = np.random.default_rng(6)
N, M, L, P = 200, 15, 2, 3
X = 10 * rng.random((N, 1)) - 5
G = np.hstack((0.5 * np.sin(3 * X) + X, 3.0 * np.cos(X) - X))
W = np.array([[0.5, -0.3, 1.5], [-0.4, 0.43, 0.0]])
Y = G @ W + rng.standard_normal((N, P)) * [0.1, 0.1, 0.2]
data = X, Y

kernels = [gpflow.kernels.SquaredExponential() + gpflow.kernels.Linear() for _ in range(L)]
kernel = gpflow.kernels.LinearCoregionalization(kernels, W=rng.standard_normal((P, L)))
Z = gpflow.inducing_variables.SharedIndependentInducingVariables(
    gpflow.inducing_variables.InducingPoints(np.linspace(-5, 5, M)[:, None])
)
model = gpflow.models.SVGP(
    kernel,
    gpflow.likelihoods.Gaussian(),
    inducing_variable=Z,
    q_mu=np.zeros((M, L)),
    q_sqrt=np.repeat(np.eye(M)[None, ...], L, axis=0),
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
