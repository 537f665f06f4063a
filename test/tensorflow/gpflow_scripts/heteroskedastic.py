"""Noise that depends on the input: a second process for it, natural gradients and Adam."""

import gpflow
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.utilities import set_trainable

rng = np.random.default_rng(8)
X = np.linspace(0, 4 * np.pi, 1200)[:, None]
Y = np.sin(X) + rng.standard_normal(X.shape) * np.exp(np.cos(X))
data = (X, Y)

likelihood = gpflow.likelihoods.HeteroskedasticTFPConditional(
    distribution_class=tfp.distributions.Normal, scale_transform=tfp.bijectors.Exp()
)
kernel = gpflow.kernels.SeparateIndependent(
    [gpflow.kernels.SquaredExponential(), gpflow.kernels.SquaredExponential()]
)
Z = np.linspace(X.min(), X.max(), 20)[:, None]
inducing_variable = gpflow.inducing_variables.SeparateIndependentInducingVariables(
    [gpflow.inducing_variables.InducingPoints(Z), gpflow.inducing_variables.InducingPoints(Z)]
)
model = gpflow.models.SVGP(
    kernel=kernel,
    likelihood=likelihood,
    inducing_variable=inducing_variable,
    num_latent_gps=likelihood.latent_dim,
)
loss_fn = model.training_loss_closure(data)
set_trainable(model.q_mu, False)
set_trainable(model.q_sqrt, False)
variational_vars = [(model.q_mu, model.q_sqrt)]
natgrad_opt = gpflow.optimizers.NaturalGradient(gamma=0.1)
adam_vars = model.trainable_variables
adam_opt = tf.keras.optimizers.Adam(0.01)


@tf.function
def optimisation_step():
    natgrad_opt.minimize(loss_fn, variational_vars)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(adam_vars)
        loss = loss_fn()
    adam_opt.apply_gradients(zip(tape.gradient(loss, adam_vars), adam_vars))


for _ in range(2):
    optimisation_step()
mean, var = model.predict_y(X[::100])
results = [loss_fn(), mean, var]
