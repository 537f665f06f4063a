"""NumPyro: a mixture of many components by variational inference, then by NUTS, in single precision.

At the default size the log densities of all points under all components have 200,000 x 200 entries:
160 MB, several times over in a gradient; NUTS has them once more for each chain.
    WEIR_MEMORY_LIMIT=20MB python examples/numpyro_mixture.py
    python examples/numpyro_mixture.py --points 2000
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO, init_to_value
from numpyro.infer.autoguide import AutoNormal

sizes = dict(points=200_000, components=200)


def model(x, components):
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(components)))
    means = numpyro.sample("means", dist.Normal(0, 3).expand([components]).to_event(1))
    width = numpyro.sample("width", dist.HalfNormal(1))
    parts = dist.Categorical(weights), dist.Normal(means, width)
    with numpyro.plate("points", len(x)):
        numpyro.sample("x", dist.MixtureSameFamily(*parts), obs=x)


def make_data(points):
    rng = np.random.default_rng(0)
    return (rng.integers(-3, 4, points) + rng.normal(0, 0.2, points)).astype(np.float32)


def fit(points, components, steps=20):
    """The losses of variational inference, and its medians of the parameters."""
    guide, x = AutoNormal(model), make_data(points)
    inference, key = SVI(model, guide, numpyro.optim.Adam(1e-2), Trace_ELBO()), jax.random.key(0)
    start = inference.init(key, x[:100], components)  # runs the model op by op
    found = inference.run(key, steps, x, components, init_state=start, progress_bar=False)
    return np.asarray(found.losses), guide.median(found.params)


def sample(points, components, start, chains=2, draws=2):
    """Draws of the means, by chains side by side that begin at `start`."""
    kernel = NUTS(model, init_strategy=init_to_value(values=start), step_size=1e-3, max_tree_depth=2)
    sampler = MCMC(
        kernel,
        num_warmup=draws,
        num_samples=draws,
        num_chains=chains,
        chain_method="vectorized",
        progress_bar=False,
    )
    sampler.run(jax.random.key(1), make_data(points), components)
    return np.asarray(sampler.get_samples()["means"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        parser.add_argument("--" + name, type=int, default=value)
    chosen = vars(parser.parse_args())
    losses, found = fit(**chosen)
    print(f"losses {losses[0]:.6g} to {losses[-1]:.6g}")
    draws = sample(**chosen, start=found)
    print(f"means' average over {len(draws)} draws {draws.mean():.6f}")


if __name__ == "__main__":
    main()
