"""A GPflow script as its tutorials have them: a model, trained. Knows nothing of weir.

In:   argv[1]: {"model", "n", "m", "steps", "optimizer"} as JSON.
Out:  {"loss", "seconds", "peak_mb"} of the process, as the last line of stdout.
"""

import json
import os
import resource
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import gpflow
import numpy as np
import tensorflow as tf

given = json.loads(sys.argv[1])
n, m = given["n"], given["m"]
rng = np.random.default_rng(0)
tf.random.set_seed(0)
X = rng.random((n, 4))
Y = np.sin(6 * X[:, :1]) + X[:, 1:2] ** 2 + 0.1 * rng.standard_normal((n, 1))
Z = rng.random((max(m, 1), 4))
kernel = gpflow.kernels.SquaredExponential(lengthscales=np.ones(4))
gaussian = gpflow.likelihoods.Gaussian(0.1)
if given["model"] == "sgpr":
    model = gpflow.models.SGPR((X, Y), kernel, inducing_variable=Z, noise_variance=0.1)
elif given["model"] == "gpr":
    model = gpflow.models.GPR((X, Y), kernel, noise_variance=0.1)
elif given["model"] == "vgp":
    model = gpflow.models.VGP((X, Y), kernel, gaussian)
else:
    model = gpflow.models.SVGP(kernel, gaussian, inducing_variable=Z, num_data=n)
loss = model.training_loss_closure((X, Y)) if given["model"] == "svgp" else model.training_loss
start = time.time()
if given["optimizer"] == "scipy":
    options = {"maxiter": given["steps"]}
    gpflow.optimizers.Scipy().minimize(loss, model.trainable_variables, options=options)
else:
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = loss()
        slopes = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables))
        return value

    for _ in range(given["steps"]):
        value = step()
seconds = time.time() - start
last = tf.function(loss)()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps({"loss": float(last), "seconds": seconds, "peak_mb": peak}))
