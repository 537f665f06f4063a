"""Programs of JAX's libraries under a limit that they exceed: same results, and XLA's own report of
what runs is within the limit. `make test` runs this in an environment of its own that has them
(tools/libraries.txt). Keras, Flax NNX, Equinox, Haiku and torchax train as in examples/; what they jit is theirs, so what runs
is seen in the last report.
"""

import importlib
import os
import sys

import jax
import numpy as np
import pytest

import running
import weir
from held import reported_bytes
from library_programs import PROGRAMS
from weir import _library

sys.path.insert(0, str(running.ROOT / "examples"))
os.environ["KERAS_BACKEND"] = "jax"
pytestmark = pytest.mark.usefixtures("reports_of_users")
TRAINED = dict(length=64, words=400, width=32)  # logits of 6.5 MB a batch


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_under_the_limit_with_the_same_results(name):
    program = PROGRAMS[name]
    pytest.importorskip(program.package, reason=f"{program.package} is not installed here")
    limit = _library.parse_bytes(program.limit)
    with jax.enable_x64(program.x64):
        function, arguments = program.make()
        stock = jax.jit(function).lower(*arguments).compile()
        with weir.limit(program.limit):
            limited = jax.jit(function).lower(*arguments).compile()
        report = weir.last_report()
        assert report.outcome == "rewritten"
        assert reported_bytes(limited) <= limit < report.peak_before_bytes / 1.5
        expected, found = (jax.tree.leaves(c(*arguments)) for c in (stock, limited))
    assert len(expected) == len(found) > 0
    expected, found = ([np.asarray(x) for x in leaves] for leaves in (expected, found))
    largest = max(np.abs(x).max() for x in expected)
    assert np.isfinite(largest)
    for x, y in zip(expected, found):
        assert x.dtype == y.dtype and x.shape == y.shape
        scale = max(np.abs(x).max(), largest / 1000)  # some gradients are zeros, but for rounding
        assert np.abs(x - y).max() <= program.tolerance * scale


def check_step(plan, limit):
    """A whole training step: rewritten, its report XLA's, and what was donated still is."""
    limit = _library.parse_bytes(limit)
    assert plan.outcome == "rewritten" and not plan.after_is_estimate
    assert plan.peak_after_bytes <= limit < plan.peak_before_bytes / 1.5
    assert "tf.aliasing_output" in plan.text or "jax.buffer_donor" in plan.text


def test_keras_trains_and_predicts():
    """fit with callbacks, a partial batch and donated state; predict."""
    pytest.importorskip("keras", reason="keras is not installed here")
    import keras_transformer

    def trained():
        losses, plans = [], []

        def seen(loss):
            losses.append(float(loss))
            plans.append(weir.last_report())

        return *keras_transformer.train(100, **TRAINED, on_batch=seen), losses, plans

    history, predicted, losses, _ = trained()
    with weir.limit("12MB"):
        limited_history, limited_predicted, limited_losses, plans = trained()
    check_step(plans[0], "12MB")
    assert len(losses) == len(limited_losses) == 4
    np.testing.assert_allclose(limited_losses, losses, rtol=1e-4)
    np.testing.assert_allclose(limited_history, history, rtol=1e-4)
    np.testing.assert_allclose(limited_predicted, predicted, atol=1e-4 * np.abs(predicted).max())


# An example's sizes of a second, and the limit of its step.
EXAMPLES = {
    "nnx_transformer": ("flax", "7MB", dict(rows=64, **TRAINED)),
    "equinox_potential": ("equinox", "3MB", dict(particles=300, width=16)),
    "haiku_attention": ("haiku", "6MB", dict(rows=2, length=500, width=32, layers=1)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_trains(name):
    """Three steps of an optimizer, with donated state: losses and weights."""
    package, limit, sizes = EXAMPLES[name]
    pytest.importorskip(package, reason=f"{package} is not installed here")
    example = importlib.import_module(name)
    losses, weights = example.train(**sizes)
    with weir.limit(limit):
        limited_losses, limited_weights = example.train(**sizes)
    check_step(weir.last_report(), limit)
    assert len(losses) == 3 and losses[2] < losses[0]
    np.testing.assert_allclose(limited_losses, losses, rtol=1e-5)
    assert len(limited_weights) == len(weights) > 4
    for w, limited in zip(weights, limited_weights):
        w, limited = np.asarray(w), np.asarray(limited)
        np.testing.assert_allclose(limited, w, rtol=0, atol=1e-5 * max(1e-1, np.abs(w).max()))


def test_numpyro_fits_and_samples():
    """Variational inference, and NUTS that begins where that ended: both are of all points by components."""
    pytest.importorskip("numpyro", reason="numpyro is not installed here")
    import numpyro_mixture

    sizes, plans = dict(points=2000, components=50), []
    losses, start = numpyro_mixture.fit(**sizes)
    draws = numpyro_mixture.sample(**sizes, start=start)
    with weir.limit("200kB"):
        limited_losses, _ = numpyro_mixture.fit(**sizes)
        plans.append(weir.last_report())
        limited_draws = numpyro_mixture.sample(**sizes, start=start)
        plans.append(weir.last_report())
    for plan in plans:
        assert plan.outcome == "rewritten" and plan.peak_after_bytes <= 200_000 < plan.peak_before_bytes / 1.5
    assert len(losses) == 20 and losses[-1] < losses[0] and draws.shape == (4, 50)
    assert np.abs(draws[1] - draws[0]).max() > 0  # they move
    np.testing.assert_allclose(limited_losses, losses, rtol=1e-5)
    np.testing.assert_allclose(limited_draws, draws, atol=1e-4 * np.abs(draws).max())


def test_torchax_trains():
    pytest.importorskip("torchax", reason="PyTorch and torchax are not installed here: make test-torch")
    import torchax_transformer

    losses, weights = torchax_transformer.train(64, **TRAINED)
    with weir.limit("9MB"):
        limited_losses, limited_weights = torchax_transformer.train(64, **TRAINED)
    check_step(weir.last_report(), "9MB")
    np.testing.assert_allclose(limited_losses, losses, rtol=1e-4)
    for name, w in weights.items():
        np.testing.assert_allclose(limited_weights[name], w, atol=1e-4 * max(1e-1, np.abs(w).max()))
