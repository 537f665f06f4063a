"""Regression as in GPflow's basic tutorial: kernels, a mean function, Scipy, predictions."""

import gpflow
import numpy as np

rng = np.random.default_rng(0)
X = rng.random((300, 1))
Y = np.sin(12 * X) + 0.66 * np.cos(25 * X) + 0.1 * rng.standard_normal((300, 1)) + 3

kernel = gpflow.kernels.Matern52() + gpflow.kernels.Linear() * gpflow.kernels.Cosine()
model = gpflow.models.GPR((X, Y), kernel=kernel, mean_function=gpflow.functions.Constant())
opt = gpflow.optimizers.Scipy()
opt.minimize(model.training_loss, model.trainable_variables, options={"maxiter": 4})

Xnew = np.linspace(-0.1, 1.1, 50)[:, None]
f_mean, f_var = model.predict_f(Xnew)
y_mean, y_var = model.predict_y(Xnew)
results = [model.log_marginal_likelihood(), f_mean, f_var, y_mean, y_var]
