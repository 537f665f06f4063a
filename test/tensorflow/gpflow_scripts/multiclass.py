"""Classification into three classes by SVGP with RobustMax; the inducing points stay."""

import gpflow
import numpy as np
from gpflow.utilities import set_trainable

rng = np.random.default_rng(2)
X = rng.random((400, 1))
Y = np.argmax(np.sin(7 * X + [0.0, 2.0, 4.0]) + 0.2 * rng.standard_normal((400, 3)), 1)[:, None]

kernel = gpflow.kernels.Matern32() + gpflow.kernels.White(variance=0.01)
invlink = gpflow.likelihoods.RobustMax(3)
model = gpflow.models.SVGP(
    kernel=kernel,
    likelihood=gpflow.likelihoods.MultiClass(3, invlink=invlink),
    inducing_variable=X[::8].copy(),
    num_latent_gps=3,
    whiten=True,
    q_diag=True,
)
set_trainable(model.inducing_variable, False)
opt = gpflow.optimizers.Scipy()
opt.minimize(
    model.training_loss_closure((X, Y.astype(float))),
    model.trainable_variables,
    options={"maxiter": 3},
)
p, _ = model.predict_y(np.linspace(0, 1, 30)[:, None])
results = [model.elbo((X, Y.astype(float))), p]
