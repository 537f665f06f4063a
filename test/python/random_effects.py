"""Random programs that call Python while they run: those of the other generators, gradients included, with
calls put behind some of their ops, ordered ones and others, some of which hand on what they were given.

A seed stands for one program and the calls. A call may stand wherever an op does: in
steps of scans of both directions, in whiles, branches, layers that are checkpointed, functions. Each says
which it is, and what it was given.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.extend import core

# Others have functions of elements below them: what is compared, or added.
AROUND = "scan while cond jit pjit closed_call checkpoint remat2 custom_jvp_call custom_vjp_call".split()


class Effects:
    """heard: of each call so far where the program runs in this process: which, whether it is ordered, and
    the numbers.
    """

    def __init__(self, program, seed):
        self.program, self.dice = program, random.Random(seed + 6)
        self.heard, self.count = [], 0
        self.order = self.dice.choice([0, 0, 0.5, 1])  # how many calls have one
        self.rate = self.dice.choice([0.02, 0.05, 0.2])
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(lambda *a: program.function(*a))(*program.inputs())
            body = self.with_calls(traced.jaxpr)
        self.function = core.jaxpr_as_fun(core.ClosedJaxpr(body, traced.consts))

    # ---- the program ----
    def inputs(self):
        return self.program.inputs()

    def largest_bytes(self):
        return self.program.largest_bytes()

    def text(self):
        with jax.enable_x64(True):
            return jax.jit(self.function, keep_unused=True).lower(*self.inputs()).as_text()

    # ---- one call ----
    def listener(self):
        number, is_ordered = self.count, self.dice.random() < self.order
        self.count += 1

        def hear(value):
            self.heard.append((number, is_ordered, np.asarray(value, float).ravel()))

        return hear, is_ordered

    def saying(self, aval):
        """A function that says a value, or one element of it where it is large."""
        hear, is_ordered = self.listener()
        part = aval.size > 8 and self.dice.random() < 0.8
        by_debug = not is_ordered and self.dice.random() < 0.5

        def say(x):
            x = x.ravel()[x.size // 2] if part else x
            if by_debug:
                jax.debug.callback(hear, x)
            else:
                io_callback(hear, None, x, ordered=is_ordered)

        return say

    def handing_on(self, aval):
        hear, is_ordered = self.listener()

        def heard(x):
            hear(x)
            return np.asarray(x)

        return lambda x: io_callback(heard, jax.ShapeDtypeStruct(aval.shape, aval.dtype), x, ordered=is_ordered)

    # ---- calls behind ops ----
    def with_calls(self, jaxpr):
        eqns = []
        for eqn in jaxpr.eqns:
            eqns.append(self.below(eqn))
            values = [v for v in eqn.outvars if may_be_heard(v)]
            if values and self.dice.random() < self.rate:
                eqns += self.with_call(eqns.pop(), self.dice.choice(values))
        return jaxpr.replace(eqns=eqns, effects=set(jaxpr.effects).union(*(eqn.effects for eqn in eqns)))

    def with_call(self, eqn, value):
        if self.dice.random() < 0.7:
            return [eqn, call(self.saying(value.aval), value, [])]
        given = type(value)(value.aval)  # what the op makes, in place of what others read
        eqn = eqn.replace(outvars=[given if v is value else v for v in eqn.outvars])
        return [eqn, call(self.handing_on(value.aval), given, [value])]

    def below(self, eqn):
        """With calls in what is below it; not in conditions, which have none in JAX."""
        if eqn.primitive.name not in AROUND:
            return eqn
        params = {k: p if k == "cond_jaxpr" else self.in_param(p) for k, p in eqn.params.items()}
        inner = [j for p in params.values() for j in (p if isinstance(p, tuple) else [p])]
        effects = set(eqn.effects).union(*(j.effects for j in inner if is_jaxpr(j)))
        return eqn.replace(params=params, effects=effects)

    def in_param(self, p):
        if isinstance(p, tuple) and any(map(is_jaxpr, p)):
            return tuple(map(self.in_param, p))
        if isinstance(p, core.ClosedJaxpr):
            return core.ClosedJaxpr(self.with_calls(p.jaxpr), p.consts)
        return self.with_calls(p) if is_jaxpr(p) else p


def is_close(x, y):
    size = np.abs(y).max(initial=0, where=np.isfinite(y))
    return x.shape == y.shape and np.allclose(x, y, rtol=1e-7, atol=1e-8 * (1 + size), equal_nan=True)


def rounded(call):
    """By what calls that are not ordered are sorted: two of one step may come in another order."""
    number, _, value = call
    return number, tuple(np.round(value, 6))


def calls_apart(got, want):
    """What is wrong with the calls that were made."""
    for ordered in (True, False):
        one, other = ([call for call in calls if call[1] == ordered] for calls in (got, want))
        if not ordered:
            one, other = sorted(one, key=rounded), sorted(other, key=rounded)
        if [number for number, *_ in one] != [number for number, *_ in other]:
            return f"{len(one)} calls or their order, expected {len(other)}"
        for (number, _, x), (_, _, y) in zip(one, other):
            if not is_close(x, y):
                return f"call {number}: {x}, expected {y}"
    return None


def call(f, value, results):
    traced = jax.make_jaxpr(jax.jit(f))(jax.ShapeDtypeStruct(value.aval.shape, value.aval.dtype))
    (eqn,) = traced.jaxpr.eqns
    return eqn.replace(invars=[value], outvars=results)


def is_jaxpr(p):
    return isinstance(p, (core.ClosedJaxpr, core.Jaxpr))


def may_be_heard(v):
    return type(v).__name__ != "DropVar" and not jnp.issubdtype(v.aval.dtype, jax.dtypes.extended)
