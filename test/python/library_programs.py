"""Programs written with JAX's libraries, as their users write them, with a tensor too large for the
limit: name -> Program. Sizes of a second.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Program:
    package: str
    make: Callable  # () -> (function, arguments)
    limit: str
    tolerance: float  # relative to the largest value
    x64: bool = False


def optax_step(loss, optimizer):
    """A training step on (parameters, optimizer's state, x, y)."""
    import optax

    def step(parameters, state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    return step


def attention_gradient():
    """flax: the gradient of a transformer's block over a long sequence."""
    import flax.linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x))
            return x + nn.Dense(32)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))

    x = jax.random.normal(jax.random.key(0), (1, 1024, 32))
    block = Block()
    parameters = jax.jit(block.init)(jax.random.key(1), x)

    def loss(parameters, x):
        return jnp.square(block.apply(parameters, x)).mean()

    return jax.value_and_grad(loss), (parameters, x)


def module_of_nnx():
    """flax.nnx: a loss of a module with state, split and merged."""
    from flax import nnx

    class Classifier(nnx.Module):
        def __init__(self, rngs):
            self.hidden = nnx.Linear(16, 1024, rngs=rngs)
            self.norm = nnx.LayerNorm(1024, rngs=rngs)
            self.out = nnx.Linear(1024, 10, rngs=rngs)

        def __call__(self, x):
            return self.out(nnx.relu(self.norm(self.hidden(x))))

    graph, state = nnx.split(Classifier(nnx.Rngs(0)))
    x = jax.random.normal(jax.random.key(1), (6000, 16))
    y = jnp.arange(6000) % 10

    def loss(state, x, y):
        logits = nnx.merge(graph, state)(x)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1)
        return -picked.mean()

    return jax.value_and_grad(loss), (state, x, y)


def recurrent_step():
    """flax and optax: a training step of two recurrent layers over long sequences."""
    import flax.linen as nn
    import optax

    class Classifier(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.RNN(nn.GRUCell(32))(x)
            return nn.Dense(10)(nn.RNN(nn.OptimizedLSTMCell(32))(x)[:, -1])

    x = jax.random.normal(jax.random.key(0), (60, 128, 8))
    y = jnp.arange(60) % 10
    model, optimizer = Classifier(), optax.adam(1e-2)
    parameters = jax.jit(model.init)(jax.random.key(1), x)

    def loss(parameters, x, y):
        logits = model.apply(parameters, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    return optax_step(loss, optimizer), (parameters, optimizer.init(parameters), x, y)


def adam_step():
    """optax: a step of Adam with clipped gradients, full batch, a wide layer."""
    import optax

    keys = jax.random.split(jax.random.key(0), 4)
    parameters = {
        "in": jax.random.normal(keys[0], (16, 1024)) / 4,
        "out": jax.random.normal(keys[1], (1024, 10)) / 32,
    }
    x, y = jax.random.normal(keys[2], (8000, 16)), jnp.arange(8000) % 10
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))

    def loss(parameters, x, y):
        logits = jax.nn.gelu(x @ parameters["in"]) @ parameters["out"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    return optax_step(loss, optimizer), (parameters, optimizer.init(parameters), x, y)


def variational_step():
    """numpyro: a step of variational inference of a mixture of many components."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    def model(data):
        means = numpyro.sample("means", dist.Normal(0.0, 3.0).expand([64]).to_event(1))
        weights = dist.Categorical(logits=jnp.zeros(64))
        with numpyro.plate("data", data.shape[0]):
            numpyro.sample("x", dist.MixtureSameFamily(weights, dist.Normal(means, 0.5)), obs=data)

    data = jnp.asarray(np.random.default_rng(0).standard_normal(30_000).astype(np.float32))
    inference = SVI(model, AutoNormal(model), numpyro.optim.Adam(1e-2), Trace_ELBO())
    state = inference.init(jax.random.key(0), data)

    def step(state, data):
        state, loss = inference.update(state, data)
        return inference.get_params(state), loss

    return step, (state, data)


def sparse_bound():
    """gpjax: the collapsed bound of a sparse Gaussian process and its gradient."""
    import equinox as eqx
    import gpjax as gpx

    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (10_000, 3))
    prior = gpx.gps.Prior(
        mean_function=gpx.mean_functions.Constant(), kernel=gpx.kernels.RBF(n_dims=3)
    )
    family = gpx.variational_families.CollapsedVariationalGaussian(
        prior * gpx.likelihoods.Gaussian(), inducing_inputs=jnp.asarray(x[:60])
    )
    arrays, rest = eqx.partition(family, eqx.is_inexact_array)

    def bound(arrays, x, y):
        return gpx.objectives.collapsed_elbo(eqx.combine(arrays, rest), gpx.Dataset(X=x, y=y))

    return jax.value_and_grad(bound), (arrays, x, np.sin(x).sum(1, keepdims=True))


def module_of_equinox():
    """equinox: a vmapped module, filtered value and gradient."""
    import equinox as eqx

    model = eqx.nn.MLP(8, 4, width_size=384, depth=3, key=jax.random.key(0))
    arrays, rest = eqx.partition(model, eqx.is_array)
    x = jax.random.normal(jax.random.key(1), (3000, 8))

    def loss(arrays, x):
        return jnp.square(jax.vmap(eqx.combine(arrays, rest))(x)).sum(-1).mean()

    return jax.value_and_grad(loss), (arrays, x)


def coarse_adam():
    """Which does not make a step of a gradient that is zero, but for rounding (a bias before a norm)."""
    import optax

    return optax.adam(1e-3, eps=1e-4)


def words_and_next(rows, length, words):
    x = np.random.default_rng(0).integers(0, words, (rows, length))
    return x, np.roll(x, -1, axis=1)


def step_of_nnx():
    """flax.nnx: a step of its optimizer on a transformer with dropout; the whole state is passed on."""
    import optax
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(400, 32, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(2, 32, decode=False, rngs=rngs)
            self.norm = nnx.LayerNorm(32, rngs=rngs)
            self.drop = nnx.Dropout(0.1, rngs=rngs)
            self.hidden, self.back = nnx.Linear(32, 128, rngs=rngs), nnx.Linear(128, 400, rngs=rngs)

        def __call__(self, x):
            x = self.embed(x)
            x = x + self.drop(self.attention(self.norm(x)))
            return self.back(nnx.gelu(self.hidden(x)))

    model = Block(nnx.Rngs(0))
    graph, state = nnx.split((model, nnx.Optimizer(model, coarse_adam(), wrt=nnx.Param)))

    def loss(model, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    def step(state, x, y):
        model, optimizer = nnx.merge(graph, state)
        value, gradient = nnx.value_and_grad(loss)(model, x, y)
        optimizer.update(model, gradient)
        return nnx.state((model, optimizer), nnx.Param), value

    return step, (state, *words_and_next(32, 128, 400))


def step_of_equinox():
    """equinox: filtered value and gradient of a vmapped transformer, and a step of optax."""
    import equinox as eqx
    import optax

    class Block(eqx.Module):
        embed: eqx.nn.Embedding
        attention: eqx.nn.MultiheadAttention
        head: eqx.nn.MLP

        def __init__(self, key):
            keys = jax.random.split(key, 3)
            self.embed = eqx.nn.Embedding(400, 32, key=keys[0])
            self.attention = eqx.nn.MultiheadAttention(2, 32, key=keys[1])
            self.head = eqx.nn.MLP(32, 400, width_size=128, depth=1, activation=jax.nn.gelu, key=keys[2])

        def __call__(self, x):
            x = jax.vmap(self.embed)(x)
            return jax.vmap(self.head)(x + self.attention(x, x, x))

    arrays, rest = eqx.partition(Block(jax.random.key(0)), eqx.is_array)
    optimizer = optax.adamw(1e-3)

    def loss(model, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(jax.vmap(model)(x), y).mean()

    def step(arrays, state, x, y):
        model = eqx.combine(arrays, rest)
        value, gradient = eqx.filter_value_and_grad(loss)(model, x, y)
        updates, state = optimizer.update(gradient, state, eqx.filter(model, eqx.is_inexact_array))
        return eqx.filter(eqx.apply_updates(model, updates), eqx.is_array), state, value

    return step, (arrays, optimizer.init(arrays), *words_and_next(32, 128, 400))


def step_of_haiku():
    """haiku: a transformer with dropout and batch statistics, and a step of optax."""
    import haiku as hk
    import optax

    def forward(x, is_training):
        x = hk.Embed(400, 32)(x)
        y = hk.MultiHeadAttention(2, 16, w_init=hk.initializers.VarianceScaling())(x, x, x)
        x = x + hk.dropout(hk.next_rng_key(), 0.1, y)
        x = hk.BatchNorm(True, True, 0.9)(x, is_training)
        return hk.nets.MLP([128, 400], activation=jax.nn.gelu)(x)

    model = hk.transform_with_state(forward)
    x, y = words_and_next(32, 128, 400)
    parameters, statistics = model.init(jax.random.key(0), x, True)
    optimizer = coarse_adam()

    def loss(parameters, statistics, key, x, y):
        logits, statistics = model.apply(parameters, statistics, key, x, True)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), statistics

    def step(parameters, statistics, state, key, x, y):
        (value, statistics), gradient = jax.value_and_grad(loss, has_aux=True)(parameters, statistics, key, x, y)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), statistics, state, value

    return step, (parameters, statistics, optimizer.init(parameters), jax.random.key(1), x, y)


def many_bodies():
    """diffrax: an adaptive solver whose vector field is over all pairs."""
    import diffrax

    def field(t, state, masses):
        x, v = state
        apart = x[None] - x[:, None]
        cubed = (jnp.square(apart).sum(-1) + 0.1) ** -1.5
        return v, (masses[None, :, None] * apart * cubed[..., None]).sum(1)

    def solve(x, v, masses):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=0.1,
            dt0=0.02,
            y0=(x, v),
            args=masses,
            stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-5),
            max_steps=64,
        )
        return solution.ys

    x, v = jax.random.normal(jax.random.key(0), (2, 1200, 3))
    return solve, (x, v / 10, jnp.full((1200,), 1 / 1200))


def two_clouds(n, m):
    keys = jax.random.split(jax.random.key(0))
    return jax.random.normal(keys[0], (n, 3)), jax.random.normal(keys[1], (m, 3)) + 0.5


def transport_cost(**options):
    """ott: the regularised cost of moving one cloud of points to another, and its gradient."""
    from ott.geometry import pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    def cost(x, y):
        problem = linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=0.05))
        return sinkhorn.Sinkhorn(**options)(problem).reg_ot_cost

    return jax.value_and_grad(cost, (0, 1))


def implicit_transport():
    return transport_cost(max_iterations=30), two_clouds(1400, 1500)


def unrolled_transport():
    """The gradient goes back through the iterations."""
    options = {"min_iterations": 20, "max_iterations": 20, "implicit_diff": None}
    return transport_cost(**options), two_clouds(700, 750)


PROGRAMS = {
    "flax linen": Program("flax", attention_gradient, "8MB", 1e-4),
    "flax nnx": Program("flax", module_of_nnx, "12MB", 1e-4),
    "flax recurrent": Program("flax", recurrent_step, "6MB", 1e-4),
    "optax": Program("optax", adam_step, "12MB", 1e-4),
    "numpyro": Program("numpyro", variational_step, "3MB", 1e-4),
    "gpjax": Program("gpjax", sparse_bound, "6MB", 1e-8, x64=True),
    "equinox": Program("equinox", module_of_equinox, "16MB", 1e-10, x64=True),
    "flax nnx step": Program("flax", step_of_nnx, "6MB", 1e-4),
    "equinox step": Program("equinox", step_of_equinox, "6MB", 1e-4),
    "haiku step": Program("haiku", step_of_haiku, "6MB", 1e-4),
    "diffrax": Program("diffrax", many_bodies, "3MB", 1e-4),
    "ott": Program("ott", implicit_transport, "3MB", 1e-4),
    "ott unrolled": Program("ott", unrolled_transport, "8MB", 1e-4),
}
