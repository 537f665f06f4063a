"""The Bayesian GPLVM: latent positions, found from what is observed of them."""

import gpflow
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
N, D, latent_dim, num_inducing = 300, 6, 2, 15
X = rng.standard_normal((N, latent_dim))
Y = np.sin(X @ rng.standard_normal((latent_dim, D))) + 0.1 * rng.standard_normal((N, D))
Y = tf.constant(Y)

X_mean_init = gpflow.utilities.ops.pca_reduce(Y, latent_dim)
X_var_init = tf.ones((N, latent_dim), dtype=gpflow.default_float())
inducing_variable = tf.constant(X_mean_init.numpy()[::20], dtype=gpflow.default_float())
gplvm = gpflow.models.BayesianGPLVM(
    Y,
    X_data_mean=X_mean_init,
    X_data_var=X_var_init,
    kernel=gpflow.kernels.RBF(lengthscales=[1.0] * latent_dim),
    inducing_variable=inducing_variable,
)
gplvm.likelihood.variance.assign(0.01)
opt = gpflow.optimizers.Scipy()
opt.minimize(
    gplvm.training_loss,
    method="BFGS",
    variables=gplvm.trainable_variables,
    options={"maxiter": 2},
)
results = [gplvm.elbo(), gplvm.X_data_mean, gplvm.X_data_var]
