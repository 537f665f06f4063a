"""Outputs observed at different inputs: a coregionalisation kernel, a switched likelihood."""

import gpflow
import numpy as np

rng = np.random.default_rng(7)
X1, X2 = rng.random((70, 1)), 0.5 * rng.random((50, 1))
Y1 = np.sin(6 * X1) + 0.03 * rng.standard_normal((70, 1))
Y2 = np.sin(6 * X2 + 0.7) + 0.1 * rng.standard_normal((50, 1))
X = np.vstack((np.hstack((X1, np.zeros_like(X1))), np.hstack((X2, np.ones_like(X2)))))
Y = np.vstack((np.hstack((Y1, np.zeros_like(Y1))), np.hstack((Y2, np.ones_like(Y2)))))

k = gpflow.kernels.Matern32(active_dims=[0])
coreg = gpflow.kernels.Coregion(output_dim=2, rank=1, active_dims=[1])
likelihood = gpflow.likelihoods.SwitchedLikelihood(
    [gpflow.likelihoods.Gaussian(), gpflow.likelihoods.Gaussian()]
)
coreg.W.assign([[0.5], [0.3]])
model = gpflow.models.VGP((X, Y), kernel=k * coreg, likelihood=likelihood)
opt = gpflow.optimizers.Scipy()
opt.minimize(model.training_loss, model.trainable_variables, options={"maxiter": 3})
mean, var = model.predict_f(np.array([[0.2, 0.0], [0.8, 1.0]]))
results = [model.elbo(), mean, var]
