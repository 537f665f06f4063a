"""Questions 1-4 of docs/design/loop-emission-facts.md: captured or carried inputs, concat outputs,
accumulators, growth across the loop.  Run: python bench/experiments/emission.py [capture outputs ...]
"""
import re

import loops
import probe
from loops import t


def copies(prog):
    """Copy instructions above 1 MB in the optimized HLO, with the computation they stand in."""
    found, comp = [], "?"
    for line in prog.hlo().splitlines():
        m = re.match(r"^(ENTRY )?%?([\w.\-]+) .*\{$", line)
        if m:
            comp = m.group(2)
        m = re.search(r"= (\w+)\[([\d,]*)\]\S* (copy|copy-start|bitcast-convert)\(", line)
        if m:
            size = 1
            for d in m.group(2).split(","):
                size *= int(d or 1)
            if size > 1 << 17:
                found.append("%s %s[%s] in %s" % (m.group(3), m.group(1), m.group(2), comp))
    return found


def show(label, text, args, options=probe.HONEST, repeats=3, hlo=False):
    p = probe.Program(text, options)
    r = probe.row(label, p, args, repeats)
    for c in copies(p):
        print("      ", c)
    if hlo:
        print(p.hlo())
    return r


def capture():
    n, d = 2_000_000, 16          # x is 256 MB in f64: a copy could not hide
    c = 1000
    specs = [((n, d), "f64"), ((d, d), "f64")]
    args = probe.make_args(specs)
    for carried in (False, True):
        dt = "f64"
        x = "%xc" if carried else "%x"
        body = loops.start(n, c) + f"""
      %xs = stablehlo.dynamic_slice {x}, %lo, %z, sizes = [{c}, {d}] : ({t(dt,n,d)}, tensor<i64>, tensor<i64>) -> {t(dt,c,d)}
      %g = stablehlo.dot_general %xs, %xs, contracting_dims = [0] x [0] : ({t(dt,c,d)}, {t(dt,c,d)}) -> {t(dt,d,d)}
      %new_acc = stablehlo.add %acc, %g : {t(dt,d,d)}"""
        whole = [("xc", "%x", t(dt, n, d))] if carried else []
        text = loops.module([("x", t(dt, n, d)), ("m", t(dt, d, d))], [t(dt, d, d)],
                            loops.while_loop(n // c, [("acc", "%m", t(dt, d, d))], body, whole)
                            + f"    return %w#1 : {t(dt,d,d)}")
        show("x %s" % ("carried" if carried else "captured"), text, args)
        # x also returned / produced inside the program
        text2 = text.replace(f"-> ({t(dt,d,d)}) {{", f"-> ({t(dt,d,d)}, {t(dt,n,d)}) {{", 1).replace(
            f"return %w#1 : {t(dt,d,d)}", f"return %w#1, %x : {t(dt,d,d)}, {t(dt,n,d)}")
        show("x %s, x also a result" % ("carried" if carried else "captured"), text2, args)


def outputs():
    n, d, c = 1_000_000, 64, 1000
    args = probe.make_args([((n, d), "f32"), ((d, d), "f32")])
    for produce in ("fusion", "dot"):
        for init in ("zero", "constant", "iota", "input", "alloc"):
            try:
                show("concat out 256 MB, %s, init %s" % (produce, init),
                     loops.gram_out(n, d, c, "f32", init, produce), args)
            except Exception as e:  # noqa: BLE001 - the refusal is the finding
                print("concat out, %s, init %s: %s" % (produce, init, str(e)[:200]))
    show("  remainder (c = 999)", loops.gram_out(n, d, 999, "f32", "zero", "fusion"), args)


def accumulators():
    n, m = 4000, 4000             # accumulator is 128 MB in f64
    args = probe.make_args([((n, m), "f64")])
    show("acc [4000,4000] f64 += dot, trips 20", loops.sum_of_dots(n, m, 200), args, repeats=1)
    show("  masked remainder (c = 190)", loops.sum_of_dots(n, m, 190, mask=True), args, repeats=1)


def hoisting():
    n, d, dt = 20_000, 8, "f64"
    args = probe.make_args([((n, d), dt), ((n,), dt)])
    for c in (500, 20_000):
        show("matvec n=20000 c=%d (trips %d)" % (c, n // c), loops.matvec(n, d, c), args)
    show("matvec c=10000 (trips 2)", loops.matvec(n, d, 10_000), args)
    show("matvec c=500 ordered", loops.matvec(n, d, 500), args, probe.ORDERED)
    show("matvec c=500 ynn", loops.matvec(n, d, 500), args, {})
    # loop-invariant large value inside the body: does it get hoisted (kept whole over the loop)?
    m = 3000
    args = probe.make_args([((m, m), dt), ((m,), dt)])
    c = 100
    body = loops.start(m, c) + f"""
      %big = stablehlo.exponential %x : {t(dt,m,m)}
      %bs = stablehlo.dynamic_slice %big, %lo, %z, sizes = [{c}, {m}] : ({t(dt,m,m)}, tensor<i64>, tensor<i64>) -> {t(dt,c,m)}
      %y = stablehlo.dot_general %bs, %v, contracting_dims = [1] x [0] : ({t(dt,c,m)}, {t(dt,m)}) -> {t(dt,c)}
      %new_acc = stablehlo.dynamic_update_slice %acc, %y, %lo : ({t(dt,m)}, {t(dt,c)}, tensor<i64>) -> {t(dt,m)}"""
    text = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,m)}"""
    text += loops.while_loop(m // c, [("acc", "%init", t(dt, m))], body)
    text = loops.module([("x", t(dt, m, m)), ("v", t(dt, m))], [t(dt, m)],
                        text + f"    return %w#1 : {t(dt,m)}")
    show("invariant exp(x) [3000,3000] in the body", text, args)
    # invariant broadcast / iota / constant of slice size, and an invariant dot
    text = text.replace("stablehlo.exponential %x :", "stablehlo.iota dim = 1 :")
    show("invariant iota [3000,3000] in the body", text, args)


if __name__ == "__main__":
    probe.setup()
    for f in (capture, outputs, accumulators, hoisting):
        if probe.wanted(f.__name__):
            print("--", f.__name__)
            f()
