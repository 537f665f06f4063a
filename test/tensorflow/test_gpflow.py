"""GPflow's tutorials, small, as they are: with every function compiled by XLA under a limit they
give what they give without weir. The scripts know nothing of it; each leaves `results`.
"""

import os
import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import weir
from weir import _tf_hook

gpflow = pytest.importorskip("gpflow")
HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "gpflow_scripts"

# A third to two thirds of what the training step needs by TensorFlow's XLA.
LIMITS = {
    "regression": "3MB",
    "classification": "2.2MB",
    "multiclass": "1MB",
    "sparse": "1.5MB",
    "big_data": "1MB",
    "multioutput": "1MB",
    "gplvm": "1MB",
}
NOT_SPLIT = {"classification"}  # VGP: runs by XLA, and needs nearly all that it has
LEFT_ALONE = {
    "mixed_outputs": "without XLA",  # the gradient of tf.map_fn, for kernels that differ
    "heteroskedastic": "known only when it runs",  # the same without a gradient
    "coregionalisation": "as it came",  # tf.dynamic_partition: sizes that only data says
}


def results_of(name):
    gpflow.config.set_config(gpflow.config.Config())
    tf.random.set_seed(0)
    return [np.asarray(r) for r in runpy.run_path(SCRIPTS / f"{name}.py")["results"]]


@pytest.fixture
def plans(monkeypatch):
    """All that are made."""
    made, note = [], _tf_hook._note

    def kept(plan, *rest):
        made.append(plan)
        note(plan, *rest)

    monkeypatch.setattr(_tf_hook, "_note", kept)
    return made


def check(stock, ours):
    for one, other in zip(stock, ours, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::weir.WeirWarning")
@pytest.mark.parametrize("name", LIMITS)
def test_a_tutorial(name, plans, monkeypatch):
    stock = results_of(name)
    monkeypatch.setenv("WEIR_TF_JIT", "1")
    with weir.limit(LIMITS[name]):
        ours = results_of(name)
    assert plans and (name in NOT_SPLIT or any(plan.outcome == "rewritten" for plan in plans))
    for plan in plans:
        assert plan.peak_after_bytes <= plan.limit_bytes
    check(stock, ours)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::weir.WeirWarning")
def test_a_limit_that_leaves_it_as_it_came(monkeypatch):
    """Compiled by XLA all the same; the text of this one has ops of MHLO."""
    stock = results_of("multioutput")
    monkeypatch.setenv("WEIR_TF_JIT", "1")
    with weir.limit("100GB"):
        check(stock, results_of("multioutput"))


def trained_vgp(n):
    """The loss, after a step."""
    rng = np.random.default_rng(0)
    x = rng.random((n, 4))
    y = np.sin(6 * x[:, :1]) + 0.1 * rng.standard_normal((n, 1))
    kernel = gpflow.kernels.SquaredExponential(lengthscales=np.ones(4))
    model = gpflow.models.VGP((x, y), kernel, gpflow.likelihoods.Gaussian(0.1))
    gpflow.optimizers.Scipy().minimize(
        model.training_loss, model.trainable_variables, options={"maxiter": 1}
    )
    return model.training_loss().numpy()


def test_few_matrices_of_a_variational_process(plans, monkeypatch):
    """XLA needs 9.6 n x n; docs/design/gaussian-process.md counts."""
    n = 300
    stock = trained_vgp(n)
    monkeypatch.setenv("WEIR_TF_JIT", "1")
    with weir.limit(int(6.5 * n * n * 8)):
        ours = trained_vgp(n)
    (step,) = [plan for plan in plans if plan.outcome == "rewritten"]
    assert step.peak_after_bytes <= step.limit_bytes
    np.testing.assert_allclose(ours, stock, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_xla_can_not_compile_runs_as_it_came(name, monkeypatch):
    stock = results_of(name)
    monkeypatch.setenv("WEIR_TF_JIT", "1")
    with weir.limit("1MB"), pytest.warns(weir.WeirWarning, match=LEFT_ALONE[name]):
        check(stock, results_of(name))


@pytest.mark.slow
def test_a_script_as_it_is(tmp_path):
    """By `python -m weir`, which the script does not know of."""
    script = tmp_path / "script.py"
    code = (SCRIPTS / "sparse.py").read_text()
    script.write_text(code + "print(*[float(np.sum(r)) for r in results])\n")
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "python")}
    done = subprocess.run(
        [sys.executable, "-m", "weir", script],
        capture_output=True,
        text=True,
        env=environment | {"WEIR_MEMORY_LIMIT": "1.5MB", "WEIR_TF_JIT": "1", "WEIR_DEBUG": "1"},
        timeout=600,
    )
    assert done.returncode == 0 and "weir: _tf_eval: rewritten" in done.stderr, done.stderr
    ours = [float(word) for word in done.stdout.split()[-4:]]
    np.testing.assert_allclose(ours, [np.sum(r) for r in results_of("sparse")], rtol=1e-8)
