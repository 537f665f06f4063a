"""Stochastic variational inference: SVGP, minibatches, Adam and natural gradients."""

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.utilities import set_trainable

rng = np.random.default_rng(4)
N, M = 6000, 30
X = 2 * rng.random((N, 1)) - 1
Y = np.sin(9 * X) + 0.3 * np.cos(40 * X) + 0.2 * rng.standard_normal((N, 1))
data = (X, Y)

Z = X[:M, :].copy()
model = gpflow.models.SVGP(
    gpflow.kernels.SquaredExponential(), gpflow.likelihoods.Gaussian(), Z, num_data=N
)
set_trainable(model.q_mu, False)
set_trainable(model.q_sqrt, False)
dataset = tf.data.Dataset.from_tensor_slices(data).repeat().shuffle(N, seed=5)
batches = iter(dataset.batch(2000))
loss = model.training_loss_closure(batches, compile=True)
natgrad = gpflow.optimizers.NaturalGradient(gamma=0.1)
adam = tf.keras.optimizers.Adam(0.01)


@tf.function
def optimization_step():
    natgrad.minimize(loss, [(model.q_mu, model.q_sqrt)])
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(model.trainable_variables)
        value = loss()
    slopes = tape.gradient(value, model.trainable_variables)
    adam.apply_gradients(zip(slopes, model.trainable_variables))


for _ in range(3):
    optimization_step()
mean, var = model.predict_y(np.linspace(-1, 1, 30)[:, None])
results = [model.elbo(data), mean, var]
