"""A GPflow script as its tutorials have them: a model, trained. Knows nothing of weir.

In:   argv[1]: {"model", "n", "m", "steps", "optimizer"}, and "d", the columns of the inputs (4), as
      JSON.
Out:  {"loss", "seconds", "step_seconds", "step_cpu", "peak_mb"} of the process, as the last line of
      stdout: the loss after training, the time of all of it, time and CPU time of a step, the median
      without the first, which compiles.
"""

import json
import os
import resource
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import gpflow
import numpy as np
import tensorflow as tf

given = {"d": 4} | json.loads(sys.argv[1])
n, m, d = given["n"], given["m"], given["d"]
rng = np.random.default_rng(0)
tf.random.set_seed(0)
X = rng.random((n, d))
Y = np.sin(6 * X[:, :1]) + X[:, 1:2] ** 2 + 0.1 * rng.standard_normal((n, 1))
Z = rng.random((max(m, 1), d))
kernel = gpflow.kernels.SquaredExponential(lengthscales=np.ones(d))
gaussian = gpflow.likelihoods.Gaussian(0.1)
if given["model"] == "sgpr":
    model = gpflow.models.SGPR((X, Y), kernel, inducing_variable=Z, noise_variance=0.1)
elif given["model"] == "gpr":
    model = gpflow.models.GPR((X, Y), kernel, noise_variance=0.1)
elif given["model"] == "vgp":
    model = gpflow.models.VGP((X, Y), kernel, gaussian)
elif given["model"] == "gplvm":
    outputs = np.sin(X @ rng.standard_normal((d, 12)))
    model = gpflow.models.BayesianGPLVM(
        outputs,
        X_data_mean=tf.constant(X[:, :2]),
        X_data_var=0.1 * tf.ones((n, 2), gpflow.default_float()),
        kernel=gpflow.kernels.RBF(lengthscales=np.ones(2)),
        inducing_variable=Z[:, :2],
    )
else:
    model = gpflow.models.SVGP(kernel, gaussian, inducing_variable=Z, num_data=n)
loss = model.training_loss_closure((X, Y)) if given["model"] == "svgp" else model.training_loss
times = [(time.time(), time.process_time())]


def note(*_):
    times.append((time.time(), time.process_time()))


def of_a_step(clock):
    steps = [after[clock] - before[clock] for before, after in zip(times[1:], times[2:])]
    return statistics.median(steps) if steps else None


if given["optimizer"] == "scipy":
    options = {"maxiter": given["steps"]}
    optimizer = gpflow.optimizers.Scipy()
    optimizer.minimize(loss, model.trainable_variables, options=options, step_callback=note)
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
        step().numpy()
        note()
last = tf.function(loss)()
report = {
    "loss": float(last),
    "seconds": times[-1][0] - times[0][0],
    "step_seconds": of_a_step(0),
    "step_cpu": of_a_step(1),
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
}
print(json.dumps(report))
