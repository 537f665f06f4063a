"""Random whiles that ask whether any row goes on, and go on with all rows until none does.

A seed stands for one program. Rows have one or two dimensions; what ends them is a flag or a number
that only falls or rises, alone or together (`ends_for_good`), or numbers that come back. Rows are
asked by the condition or by the body, which carries the answer (`handed`): whether any goes on, or
whether not all are done. What comes of it may go into the next trips (`told`). The trips may have an
end of their own, and a key that is carried beside the rows. All numbers are multiples of 1/64 or
small whole ones, so results are exact. `largest` is a tensor's size in bytes.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

COME_BACK = ["comes back", "in turn"]
WAYS = ["flag", "going", "falls", "rises", "both", "either", *COME_BACK]


class Loop:
    def __init__(self, seed):
        dice = random.Random(seed)
        self.seed = seed
        self.way = WAYS[seed % len(WAYS)]
        self.shape = (dice.choice([37, 64, 101]),) + ((3,) if dice.random() < 0.4 else ())
        self.most = dice.choice([None, 2, 9])
        self.strict = dice.random() < 0.5
        self.largest = 4 * int(np.prod(self.shape))
        self.handed = seed % 3 == 2
        self.asks_all = seed // 6 % 2 == 1
        self.told = seed % 6 == 5  # the key hears of it: no row can be run alone
        self.ends_for_good = self.way not in COME_BACK and not self.handed
        if self.way in COME_BACK:
            self.most = self.most or 20

    def inputs(self):
        numbers = np.random.default_rng(self.seed)
        return [numbers.integers(1, 200, self.shape).astype(np.float32) / 8, np.int32(self.seed)]

    def goes_on(self, s):
        x, low, done, limit = s["x"], s["low"], s["done"], s["limit"]
        falls = (low > -limit) if self.strict else (low >= 1 - limit)
        rises = (s["high"] < limit) if self.strict else (limit >= s["high"])
        return {
            "flag": ~done,
            "going": s["going"],
            "falls": falls,
            "rises": rises,
            "both": ~done & falls,
            "either": ~done | rises,
            "comes back": x < limit,
            "in turn": (s["trips"] + limit.astype(jnp.int32)) % 7 < 3,
        }[self.way]

    def step(self, s):
        """x goes on wherever rows are: what it ends as depends on when the last row ends."""
        key = s["key"] * 5 + 3
        by = ((key >> 3) & 7).astype(jnp.float32) / 8
        x = jnp.where(s["x"] > 20, s["x"] - 17, s["x"] + by)
        up = 0.25 * jnp.abs(x)
        done = s["done"] | (s["trips"] * 3.0 > s["limit"])
        going = s["going"] & (s["trips"] * 2.0 < s["limit"])
        return {
            "x": x,
            "low": s["low"] + -up,
            "high": s["high"] + up,
            "done": done,
            "going": going,
            "limit": s["limit"],
            "key": key & 1023,
            "trips": s["trips"] + 1,
        }

    def any_goes_on(self, s):
        rows = self.goes_on(s)
        return ~jnp.all(~rows) if self.asks_all else jnp.any(rows)

    def function(self, limit, key):
        zeros = jnp.zeros(self.shape, jnp.float32)
        init = {
            "x": limit / 2,
            "low": zeros,
            "high": zeros,
            "done": jnp.zeros(self.shape, bool),
            "going": jnp.ones(self.shape, bool),
            "limit": limit,
            "key": key,
            "trips": 0,
        }

        def condition(s):
            any_left = s["any"] if self.handed else self.any_goes_on(s)
            return any_left if self.most is None else any_left & (s["trips"] < self.most)

        def body(s):
            new = self.step(s)
            if self.told:
                new["key"] += jnp.all(~self.goes_on(new))
            return new | {"any": self.any_goes_on(new)} if self.handed else new

        if self.handed:
            init |= {"any": (key & 3) > 0}
        s = lax.while_loop(condition, body, init)
        return s["x"], s["low"], s["high"], s["trips"]

    def text(self):
        return jax.jit(lambda *a: self.function(*a), keep_unused=True).lower(*self.inputs()).as_text()
