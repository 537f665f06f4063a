"""What the hook promises beside results: gradients by tapes outside, refusals, plans, functions that
it leaves alone, scripts as they are.
"""

import os
import subprocess
import sys

import numpy as np
import cases
import pytest
import tensorflow as tf

import weir
from weir import _library, _say, _tf_hook

LIMIT = "1.5MB"
X, V = cases.random(800, 3), cases.random(800, 4)  # a matrix of 5 MB between them


@pytest.fixture(autouse=True)
def no_report(monkeypatch):
    monkeypatch.setattr(_say, "last_report", None)


def product(scale):
    return cases.compiled(lambda x, v: cases.kernel(x, x, scale) @ v)


def close(one, other):
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-10)


# ---- tapes outside ----
def gradients(between=lambda scale: None):
    scale = tf.Variable(1.5, dtype=tf.float64)
    f = product(scale)
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.reduce_sum(f(X, V) ** 2)
    between(scale)
    return [y, *tape.gradient(y, [X, scale]), scale]


@pytest.mark.parametrize("between", [lambda scale: None, lambda scale: scale.assign(9.0)])
def test_a_tape_outside_computes_anew(between):
    stock = gradients(between)
    with weir.limit(LIMIT):
        ours = gradients(between)
    assert weir.last_report().name == "_compute" and weir.last_report().peak_after_bytes < 1.5e6
    for one, other in zip(stock, ours, strict=True):
        close(one, other)


def test_without_it_the_limit_is_refused(monkeypatch):
    from weir import _tf_gradient

    monkeypatch.setattr(_tf_gradient, "_is_repeatable", lambda graph: False)
    with weir.limit(LIMIT), pytest.raises(tf.errors.ResourceExhaustedError):
        gradients()


def test_a_tape_in_a_function_that_is_not_compiled():
    def run():
        scale = tf.Variable(1.5, dtype=tf.float64)
        f = product(scale)

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(f(x, V) ** 2)
            slope = tape.gradient(y, scale)
            scale.assign_sub(1e-9 * slope)
            return y, slope

        return [*step(X), *step(X), scale]

    stock = run()
    with weir.limit(LIMIT):
        ours = run()
    assert weir.last_report().name == "_compute"
    for one, other in zip(stock, ours, strict=True):
        close(one, other)


def test_higher_order_and_jacobians_are_right():
    f = cases.compiled(lambda x: tf.reduce_sum(cases.kernel(X, X, x)))
    g = cases.compiled(lambda x: tf.reduce_sum(cases.kernel(X, X) * x[0], 1)[:3] * x)

    def run():
        x = tf.constant(1.5, tf.float64)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            slope = inner.gradient(y, x)
        x3 = tf.constant([1.0, 2.0, 3.0], tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(x3)
            z = g(x3)
        return slope, outer.gradient(slope, x), tape.jacobian(z, x3)

    stock = run()
    with weir.limit("3MB"):
        ours = run()
    for one, other in zip(stock, ours, strict=True):
        close(one, other)


def test_what_draws_is_not_drawn_again():
    """The gradient belongs to the numbers that were drawn: what TensorFlow keeps of them counts."""
    f = cases.compiled(lambda x: x * tf.random.uniform(x.shape, dtype=tf.float64))
    x = tf.ones((400, 400), tf.float64)
    with weir.limit("20MB"), tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    close(tape.gradient(y, x), y)


def test_stateful_draws_are_new_each_time():
    """XLA has their state in the executable: two compilations of one program draw other numbers, as
    stock they do. The function beside them is under the limit.
    """

    @cases.compiled
    def f(x, v):
        return cases.kernel(x, x) @ v, tf.random.uniform((5000,), dtype=tf.float64)

    want = f(X, V)[0]
    with weir.limit(LIMIT):
        ours = cases.compiled(f.python_function)
        (one, first), (other, second) = ours(X, V), ours(X, V)
    assert weir.last_report().outcome == "rewritten"
    close(one, want)
    close(other, want)
    assert not np.any(first == second)
    for drawn in (first, second):
        assert 0 <= np.min(drawn) and np.max(drawn) < 1 and abs(np.mean(drawn) - 0.5) < 0.03


# ---- refusals, failures, what is left alone ----
def test_a_refusal_names_the_limit_that_does():
    def factor(x):
        return tf.linalg.cholesky(cases.kernel(x, x) + tf.eye(800, dtype=x.dtype))

    f = cases.compiled(factor)
    with weir.limit("1MB"):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="weir: .* set it to [0-9]+ bytes"):
            f(X)
    assert weir.last_report().outcome == "refused"
    assert f(X).shape == (800, 800)


def test_what_is_over_the_limit_runs_where_asked_for(monkeypatch):
    monkeypatch.setenv("WEIR_OVER_LIMIT", "warn")
    f = cases.compiled(lambda x: tf.linalg.cholesky(cases.kernel(x, x) + tf.eye(800, dtype=x.dtype)))
    with weir.limit("1MB"), pytest.warns(weir.WeirWarning, match="over the limit of 1.00 MB: peak"):
        assert f(X).shape == (800, 800)
    assert weir.plan(f, X, limit="1MB").outcome == "refused"


def test_what_fails_in_weir_runs_as_it_came(monkeypatch, tmp_path):
    def fail(*_):
        raise RuntimeError("by design")

    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    monkeypatch.setattr(_library, "rewrite", fail)
    f = product(1.0)
    with weir.limit(LIMIT), pytest.warns(weir.WeirWarning, match="by design"):
        y = f(X, V)
    close(y, cases.kernel(X, X) @ V)
    assert b"func.func @main" in next(tmp_path.glob("*.reproducer.mlir")).read_bytes()


# ---- values of arguments that TensorFlow puts into a program ----
def test_what_can_not_be_run_runs_as_it_came(monkeypatch, tmp_path):
    """A text that TensorFlow does not take, rewritten or not."""

    def run(program, text):
        raise ValueError("not portable")

    monkeypatch.setattr(_tf_hook, "_kept", run)
    monkeypatch.chdir(tmp_path)  # a reproducer
    for compiled in (True, False):
        monkeypatch.setenv("WEIR_TF_JIT", "1")
        f = tf.function(lambda x, v: cases.kernel(x, x) @ v, jit_compile=compiled or None)
        with weir.limit(LIMIT), pytest.warns(weir.WeirWarning, match="not portable"):
            close(f(X, V), cases.kernel(X, X) @ V)


@pytest.mark.filterwarnings("error::weir.WeirWarning")
def test_sizes_as_values():
    """Each has a program of its own, under the limit."""
    f = cases.compiled(lambda x, n, shape: tf.reshape(cases.kernel(x, x) @ V, shape) * n)
    n = tf.constant(2.0, tf.float64)
    wanted = 2.0 * (cases.kernel(X, X) @ V).numpy()
    with weir.limit(LIMIT):
        for shape in ([400, 8], [8, 400], [400, 8]):
            close(f(X, n, tf.constant(shape)), wanted.reshape(shape))
            assert weir.last_report().peak_after_bytes < 1.5e6
    inner = f.get_concrete_function(X, n, tf.constant([400, 8]))._inference_function
    (made,) = inner.__dict__[_tf_hook._PLAN].values()
    assert made.places == (2,) and len(made.made) == 2


def test_too_many_values_are_left_alone_with_a_word(monkeypatch):
    monkeypatch.setattr(_tf_hook, "MOST_VALUES", 1)
    f = cases.compiled(lambda x, shape: tf.reshape(cases.kernel(x, x) @ V, shape))
    with weir.limit(LIMIT):
        f(X, tf.constant([400, 8]))
        with pytest.warns(weir.WeirWarning, match="more than 1"):
            assert f(X, tf.constant([8, 400])).shape == (8, 400)


@pytest.mark.filterwarnings("error::weir.WeirWarning")
@pytest.mark.parametrize("compiled", [True, False])
def test_values_that_are_no_sizes_are_left_out(compiled, monkeypatch):
    """TensorFlow puts in all that goes into a function in the function whose gradient asks for
    shapes: data, too.
    """
    monkeypatch.setenv("WEIR_TF_JIT", "1")
    scale, fixed = tf.Variable(1.0, dtype=tf.float64), tf.constant(0.5, tf.float64)
    loss = tf.function(lambda x, y: tf.reduce_mean((cases.kernel(x, x, scale + fixed) @ V - y) ** 2))

    @tf.function(jit_compile=compiled)
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(x, y)
        scale.assign_sub(1e-6 * tape.gradient(value, scale))
        return value

    def run():
        scale.assign(1.0)
        return [*(step(X + at, V * at) for at in (0.0, 0.5, 1.0)), scale.numpy()]

    stock = run()
    with weir.limit("3MB"):
        ours = run()
    assert weir.last_report().outcome == "rewritten"
    for one, other in zip(stock, ours, strict=True):
        close(one, other)
    inner = step.get_concrete_function(X, V)._inference_function
    (made,) = inner.__dict__[_tf_hook._PLAN].values()
    assert len(made.made) == 1


# ---- functions in functions that XLA can't compile ----
@pytest.mark.filterwarnings("error::weir.WeirWarning")
def test_a_step_that_takes_from_an_iterator(monkeypatch):
    """XLA knows no iterators: the loss inside and its gradient are compiled, and hold the limit."""
    monkeypatch.setenv("WEIR_TF_JIT", "1")

    def run():
        scale = tf.Variable(1.0, dtype=tf.float64)
        data = iter(tf.data.Dataset.from_tensor_slices(cases.random(2000, 3)).batch(800))
        signature = [data.element_spec]
        loss = tf.function(lambda x: tf.reduce_sum(cases.kernel(x, x, scale)), signature)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                value = loss(next(data))
            scale.assign_sub(1e-6 * tape.gradient(value, scale))
            return value

        return [step() for _ in range(3)] + [scale.numpy()]

    stock = run()
    with weir.limit(LIMIT):
        ours = run()
    assert weir.last_report().name == "_compute" and weir.last_report().outcome == "rewritten"
    for one, other in zip(stock, ours, strict=True):
        close(one, other)


def test_what_is_not_compiled_is_said_once(monkeypatch):
    monkeypatch.setenv("WEIR_TF_JIT", "1")
    f = tf.function(lambda key: tf.strings.length(key))
    with weir.limit(LIMIT), pytest.warns(weir.WeirWarning, match="without XLA"):
        assert f(tf.constant("abc")) == 3


@pytest.mark.filterwarnings("error::weir.WeirWarning")
def test_what_is_not_compiled_is_left_alone():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [2.0]), 0.0)
    f = tf.function(lambda key, x: table.lookup(key) * tf.cast(x, tf.float32))
    with weir.limit("1kB"):
        assert f(tf.constant("a"), X).shape == X.shape
    assert weir.last_report() is None


def test_the_innermost_limit_counts():
    f = product(1.0)
    with weir.limit("1kB"), weir.limit(None):
        f(X, V)
    assert weir.last_report() is None
    with weir.limit(LIMIT):
        f(X, V)
    assert weir.last_report().limit_bytes == 1_500_000
    with weir.limit("1.4MB"):
        f(X, V)
    assert weir.last_report().limit_bytes == 1_400_000


def test_plans_run_nothing():
    count = tf.Variable(0)

    @tf.function(jit_compile=True)
    def f(x, v):
        count.assign_add(1)
        return cases.kernel(x, x) @ v

    specs = [tf.TensorSpec(a.shape, a.dtype) for a in (X, V)]
    for arguments in ((X, V), specs):
        plan = weir.plan(f, *arguments, limit=LIMIT)
        assert plan.outcome == "rewritten" and plan.peak_after_bytes < 1.5e6
    assert count.numpy() == 0
    assert weir.plan(f, X, V, limit="10kB").outcome == "refused"


def test_the_program_as_it_came_is_not_compiled_where_it_is_hopeless(monkeypatch):
    seen = []
    referee = _tf_hook.Program.referee
    monkeypatch.setattr(
        _tf_hook.Program, "referee", lambda self, text: seen.append(text) or referee(self, text)
    )
    weir.plan(product(1.0), X, V, limit=LIMIT)
    assert seen and None not in seen
    seen.clear()
    weir.plan(product(1.0), X, V, limit="4.5MB")
    assert None in seen


def test_loops_over_data():
    data = tf.data.Dataset.from_tensor_slices(cases.random(2000, 3)).batch(800)
    f = cases.compiled(lambda x: tf.reduce_sum(cases.kernel(x, x), 1))

    def run():
        @tf.function
        def total():
            found = tf.constant(0.0, tf.float64)
            for x in data:
                found += tf.reduce_sum(f(x))
            return found

        return [total(), sum(tf.reduce_sum(f(x)) for x in data), *data.map(f)]

    stock = run()
    with weir.limit("1MB"):
        ours = run()
    assert weir.last_report().outcome == "rewritten"
    for one, other in zip(stock, ours, strict=True):
        close(one, other)


# ---- scripts as they are ----
SCRIPT = """
import sys
import tensorflow as tf
assert "jax" not in sys.modules
{decorator}
def f(x):
    return tf.reduce_sum(tf.exp(-tf.abs(x[:, None] - x[None])), 1)
print(sys.argv[1:], float(tf.reduce_sum(f(tf.linspace(0.0, 1.0, 2000)))))
print(float(tf.reduce_sum(f(tf.linspace(0.0, 1.0, 2000)))))
"""


def run(tmp_path, code, *words, **environment):
    script = tmp_path / "script.py"
    script.write_text(code)
    folder = os.path.dirname(os.path.dirname(weir.__file__))
    return subprocess.run(
        [sys.executable, *words, script, "one", "-m"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": folder} | environment,
        timeout=600,
    )


def test_a_script_as_it_is(tmp_path):
    code = SCRIPT.format(decorator="@tf.function(jit_compile=True)")
    stock = run(tmp_path, code)
    ours = run(tmp_path, code, "-m", "weir", WEIR_MEMORY_LIMIT="2MB", WEIR_DEBUG="1")
    assert ours.returncode == 0, ours.stderr
    assert "weir: f: rewritten" in ours.stderr and "['one', '-m']" in ours.stdout
    assert abs(float(ours.stdout.split()[-1]) / float(stock.stdout.split()[-1]) - 1) < 1e-5


@pytest.mark.slow
def test_functions_that_are_not_compiled(tmp_path):
    code = SCRIPT.format(decorator="@tf.function")
    stock = run(tmp_path, code)
    settings = {"WEIR_MEMORY_LIMIT": "2MB", "WEIR_DEBUG": "1"}
    left = run(tmp_path, code, "-m", "weir", **settings)
    ours = run(tmp_path, code, "-m", "weir", WEIR_TF_JIT="1", **settings)
    assert "rewritten" not in left.stderr and "weir: f: rewritten" in ours.stderr, ours.stderr
    for done in (left, ours):
        assert abs(float(done.stdout.split()[-1]) / float(stock.stdout.split()[-1]) - 1) < 1e-5


# ---- what the process takes ----
GROWTH = """
import ctypes, gc
import tensorflow as tf

def status(field):
    return next(int(x.split()[1]) * 1024 for x in open("/proc/self/status") if x.startswith(field))

def grown(f):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins here
    before = status("VmRSS")
    f()
    return status("VmHWM") - before

def product(x, v):
    return tf.exp(-tf.abs(x[:, None] - x[None])) @ v

points = {n: (tf.random.stateless_uniform((n,), (1, 2)), tf.ones((n, 2))) for n in (500, 8000)}
other = tf.function(lambda x, v: product(x, v) * 2, jit_compile=True)
print(grown(lambda: other(*points[500]).numpy()))  # the first compilation brings XLA in
f = tf.function(product, jit_compile=True)
print(grown(lambda: f(*points[8000]).numpy()), grown(lambda: f(*points[8000]).numpy()))
"""


@pytest.mark.slow
def test_the_limit_holds_for_the_process(tmp_path):
    """Planning and the first run grow the process by less than the matrix of 256 MB, which stock
    has; a second run by no more than the limit and what threads and products keep."""
    limit, matrix, kept = 20e6, 8000 * 8000 * 4, 64e6
    ours = run(tmp_path, GROWTH, "-m", "weir", WEIR_MEMORY_LIMIT="20MB", WEIR_DEBUG="1")
    assert "rewritten" in ours.stderr, ours.stderr
    stock = run(tmp_path, GROWTH)
    first, second = (int(word) for word in ours.stdout.split()[1:])
    assert first < matrix <= int(stock.stdout.split()[1]), (ours.stdout, stock.stdout)
    assert second < limit + kept


# ---- Keras ----
WIDE = 400


def trained(settings):
    """Losses, what is evaluated and predicted, and how often the callback was called: batches of
    4000, the last of 2000.
    """
    import keras

    keras.utils.set_random_seed(0)
    wide = [keras.layers.Dense(WIDE, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.layers.Input((8,)), *wide, keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse", **settings)
    x = np.random.default_rng(0).random((10_000, 8), np.float32)
    y = x.sum(1, keepdims=True)
    calls = []
    count = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: calls.append(epoch))
    fitted = model.fit(x, y, batch_size=4000, epochs=2, verbose=0, callbacks=[count])
    losses = [*fitted.history["loss"], model.evaluate(x, y, batch_size=4000, verbose=0)]
    return losses, calls, model.predict(x, batch_size=4000, verbose=0)


@pytest.mark.parametrize("settings", [{}, {"jit_compile": True}], ids=["default", "compiled"])
def test_keras_trains_under_a_limit(settings, monkeypatch):
    """By default Keras leaves XLA alone where there is no GPU."""
    if not settings:
        monkeypatch.setenv("WEIR_TF_JIT", "1")
    losses, calls, predicted = trained(settings)
    with weir.limit("10MB"):
        ours, own_calls, own = trained(settings)
    report = weir.last_report()
    assert report.peak_after_bytes < 10e6 < 4 * 4000 * WIDE * 2  # two layers of a batch
    np.testing.assert_allclose(ours, losses, rtol=1e-4)
    np.testing.assert_allclose(own, predicted, rtol=1e-3, atol=1e-4)
    assert own_calls == calls == [0, 1]
