"""Question 4: what XLA moves out of or into the loop, and what it costs.
Run: python bench/experiments/hoist.py [invariants heavy counters consts]
"""
import loops
import probe
from emission import show
from loops import t


def rows_loop(m, c, inner, dt="f64", counter="i64", pre="", extra_args=(), trip=None):
    body = loops.start(m, c, counter) + inner + f"""
      %y = stablehlo.dot_general %k, %v, contracting_dims = [1] x [0] : ({t(dt,c,m)}, {t(dt,m)}) -> {t(dt,c)}
      %new_acc = stablehlo.dynamic_update_slice %acc, %y, %lo : ({t(dt,m)}, {t(dt,c)}, tensor<{counter}>) -> {t(dt,m)}"""
    text = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,m)}""" + pre
    text += loops.while_loop(trip or m // c, [("acc", "%init", t(dt, m))], body, counter=counter)
    return loops.module([("x", t(dt, m)), ("v", t(dt, m))], [t(dt, m)],
                        text + f"    return %w#1 : {t(dt,m)}")


def invariants():
    """exp(broadcast(x)) [c, m] does not depend on the trip; two such values, used apart."""
    m, c, dt = 100_000, 100, "f64"
    args = probe.make_args([((m,), dt), ((m,), dt)])
    s = t(dt, c, m)
    two = f"""
      %b = stablehlo.broadcast_in_dim %x, dims = [1] : ({t(dt,m)}) -> {s}
      %xs = stablehlo.dynamic_slice %x, %lo, sizes = [{c}] : ({t(dt,m)}, tensor<i64>) -> {t(dt,c)}
      %a = stablehlo.broadcast_in_dim %xs, dims = [0] : ({t(dt,c)}) -> {s}
      %e1 = stablehlo.exponential %b : {s}
      %k = stablehlo.multiply %e1, %a : {s}"""
    show("invariant exp(broadcast x) [100,1e5] 80 MB", rows_loop(m, c, two, trip=20), args)
    # several invariants, each the operand of a dot (so each must be a buffer)
    dots = f"""
      %b = stablehlo.broadcast_in_dim %x, dims = [1] : ({t(dt,m)}) -> {s}
      %xs = stablehlo.dynamic_slice %x, %lo, sizes = [{c}] : ({t(dt,m)}, tensor<i64>) -> {t(dt,c)}
      %a = stablehlo.broadcast_in_dim %xs, dims = [0] : ({t(dt,c)}) -> {s}
      %e1 = stablehlo.exponential %b : {s}
      %e2 = stablehlo.sine %b : {s}
      %g1 = stablehlo.dot_general %e1, %v, contracting_dims = [1] x [0] : ({s}, {t(dt,m)}) -> {t(dt,c)}
      %g2 = stablehlo.dot_general %e2, %v, contracting_dims = [1] x [0] : ({s}, {t(dt,m)}) -> {t(dt,c)}
      %gs = stablehlo.add %g1, %g2 : {t(dt,c)}
      %gb = stablehlo.broadcast_in_dim %gs, dims = [0] : ({t(dt,c)}) -> {s}
      %k = stablehlo.multiply %gb, %a : {s}"""
    for name, o in (("", probe.HONEST), (" ordered", probe.ORDERED)):
        show("two invariant dot operands, then a third" + name, rows_loop(m, c, dots, trip=20), args, o)
    # without %lo dependence in one cheap op only: iota == const mask
    mask = f"""
      %xs = stablehlo.dynamic_slice %x, %lo, sizes = [{c}] : ({t(dt,m)}, tensor<i64>) -> {t(dt,c)}
      %a = stablehlo.broadcast_in_dim %xs, dims = [0] : ({t(dt,c)}) -> {s}
      %io = stablehlo.iota dim = 1 : {s}
      %k = stablehlo.multiply %io, %a : {s}"""
    show("invariant iota [100,1e5]", rows_loop(m, c, mask, trip=20), args)
    # a large value made before the loop that the loop only slices: XLA could sink it, but keeps it
    pre = f"""
    %bb = stablehlo.broadcast_in_dim %x, dims = [1] : ({t(dt,m)}) -> {t(dt,c*20,m)}
    %big = stablehlo.exponential %bb : {t(dt,c*20,m)}"""
    sl = f"""
      %k = stablehlo.dynamic_slice %big, %lo, %z, sizes = [{c}, {m}] : ({t(dt,c*20,m)}, tensor<i64>, tensor<i64>) -> {s}"""
    show("1.6 GB value before the loop, sliced inside", rows_loop(m, c, sl, trip=20, pre=pre), args, repeats=1)
    pre = f"""
    %bb = stablehlo.broadcast_in_dim %x, dims = [1] : ({t(dt,m)}) -> {t(dt,c*20,m)}
    %big = stablehlo.add %bb, %bb : {t(dt,c*20,m)}"""
    show("1.6 GB broadcast before the loop, sliced inside", rows_loop(m, c, sl, trip=20, pre=pre), args, repeats=1)


def heavy():
    """Invariant values that cannot be shrunk: f(u_i * x_j) [c, m], u of length c, in the body."""
    m, c, dt = 100_000, 100, "f64"
    args = probe.make_args([((m,), dt), ((m,), dt)])
    s = t(dt, c, m)
    pre = f"""
    %u = stablehlo.slice %x [0:{c}] : ({t(dt,m)}) -> {t(dt,c)}"""
    base = f"""
      %b = stablehlo.broadcast_in_dim %x, dims = [1] : ({t(dt,m)}) -> {s}
      %ub = stablehlo.broadcast_in_dim %u, dims = [0] : ({t(dt,c)}) -> {s}
      %ux = stablehlo.multiply %b, %ub : {s}
      %xs = stablehlo.dynamic_slice %x, %lo, sizes = [{c}] : ({t(dt,m)}, tensor<i64>) -> {t(dt,c)}
      %a = stablehlo.broadcast_in_dim %xs, dims = [0] : ({t(dt,c)}) -> {s}"""
    one = base + f"""
      %e1 = stablehlo.exponential %ux : {s}
      %k = stablehlo.multiply %e1, %a : {s}"""
    two = base + f"""
      %e1 = stablehlo.exponential %ux : {s}
      %e2 = stablehlo.sine %ux : {s}
      %k1 = stablehlo.multiply %e1, %a : {s}
      %y1 = stablehlo.dot_general %k1, %v, contracting_dims = [1] x [0] : ({s}, {t(dt,m)}) -> {t(dt,c)}
      %y1b = stablehlo.broadcast_in_dim %y1, dims = [0] : ({t(dt,c)}) -> {s}
      %k = stablehlo.multiply %e2, %y1b : {s}"""
    barrier = one.replace("%e1 = stablehlo.exponential %ux", "%uy = stablehlo.optimization_barrier %ux : " + s
                          + "\n      %e1 = stablehlo.exponential %uy")
    for name, inner in (("exp(u x)", one), ("exp(u x) and sin(u x)", two), ("exp(barrier(u x))", barrier)):
        for oname, o in (("", probe.HONEST), (", no LICM", dict(probe.HONEST, xla_disable_hlo_passes="while-loop-invariant-code-motion"))):
            p = probe.Program(rows_loop(m, c, inner, pre=pre, trip=20), o)
            body = p.hlo().split("ENTRY")[0]
            probe.row("%s%s, widened %s" % (name, oname, "wide." in body), p, args)


def counters():
    m, c, dt = 20_000, 100, "f64"
    args = probe.make_args([((m,), dt), ((m,), dt)])
    s = t(dt, c, m)
    for counter in ("i32", "i64"):
        for trip in (1, 2, 200):
            inner = f"""
      %xs = stablehlo.dynamic_slice %x, %lo, sizes = [{c}] : ({t(dt,m)}, tensor<{counter}>) -> {t(dt,c)}
      %a = stablehlo.broadcast_in_dim %xs, dims = [0] : ({t(dt,c)}) -> {s}
      %b = stablehlo.broadcast_in_dim %x, dims = [1] : ({t(dt,m)}) -> {s}
      %r = stablehlo.multiply %a, %b : {s}
      %k = stablehlo.exponential %r : {s}"""
            text = rows_loop(m, c, inner, counter=counter, trip=trip)
            p = probe.Program(text)
            probe.row("counter %s, trips %d, while kept: %s" % (counter, trip, " while(" in p.hlo()), p, args)


def consts():
    """Large constants and their place in the report."""
    m, dt = 1_000_000, "f64"
    args = probe.make_args([((m,), dt)])
    text = loops.module([("x", t(dt, m))], [t(dt, m)], f"""
    %io = stablehlo.iota dim = 0 : {t(dt,m)}
    %y = stablehlo.add %x, %io : {t(dt,m)}
    return %y : {t(dt,m)}""")
    show("iota [1e6] added", text, args)
    import numpy as np
    raw = np.random.default_rng(0).standard_normal(m).tobytes().hex()
    text = loops.module([("x", t(dt, m))], [t(dt, m)], f"""
    %io = stablehlo.constant dense<"0x{raw}"> : {t(dt,m)}
    %y = stablehlo.add %x, %io : {t(dt,m)}
    return %y : {t(dt,m)}""")
    show("dense constant [1e6] (8 MB) added", text, args)


if __name__ == "__main__":
    probe.setup()
    for f in (invariants, heavy, counters, consts):
        if probe.wanted(f.__name__):
            print("--", f.__name__)
            f()
