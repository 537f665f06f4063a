"""Binary classification by VGP with a Bernoulli likelihood."""

import gpflow
import numpy as np

rng = np.random.default_rng(1)
X = rng.random((150, 2))
Y = (np.sin(9 * X[:, :1]) > X[:, 1:] + 0.2 * rng.standard_normal((150, 1))).astype(float)

model = gpflow.models.VGP(
    (X, Y), likelihood=gpflow.likelihoods.Bernoulli(), kernel=gpflow.kernels.SquaredExponential()
)
opt = gpflow.optimizers.Scipy()
opt.minimize(model.training_loss, variables=model.trainable_variables, options={"maxiter": 3})
p, _ = model.predict_y(rng.random((40, 2)))
results = [model.elbo(), p]
