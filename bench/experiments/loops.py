"""StableHLO text of split programs, in the form weir emits them: one while, sliced by rows.

Each function returns module text; `shape` words are written by t().
"""


def t(dtype, *dims):
    return "tensor<%s>" % "x".join([str(d) for d in dims] + [dtype])


def module(args, results, body):
    """args: list of (name, type); results: list of types; body: text ending in a return."""
    sig = ", ".join("%%%s: %s" % a for a in args)
    return "module @probe {\n  func.func public @main(%s) -> (%s) {\n%s\n  }\n}\n" % (
        sig, ", ".join(results), body)


def while_loop(trip, carry, body, whole=(), counter="i64"):
    """carry, whole: list of (name, init, type). body: text defining %new_<name> for carry.

    `whole` values are carried unchanged. Results: %w#1.. in the order carry, whole.
    Captured values are simply used in the body by their outside names.
    """
    i = "tensor<%s>" % counter
    every = [("i", "%zero_i", i)] + list(carry) + list(whole)
    types = ", ".join(x[2] for x in every)
    news = ["%i_next"] + ["%new_" + c[0] for c in carry] + ["%" + w[0] for w in whole]
    return f"""
    %zero_i = stablehlo.constant dense<0> : {i}
    %one_i = stablehlo.constant dense<1> : {i}
    %trip_i = stablehlo.constant dense<{trip}> : {i}
    %w:{len(every)} = stablehlo.while({", ".join("%%%s = %s" % (x[0], x[1]) for x in every)}) : {types}
    cond {{
      %more = stablehlo.compare LT, %i, %trip_i : ({i}, {i}) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }} do {{
{body}
      %i_next = stablehlo.add %i, %one_i : {i}
      stablehlo.return {", ".join(news)} : {types}
    }}
"""


def start(n, c, counter="i64"):
    """%lo = min(i*c, n-c); %z = 0."""
    i = "tensor<%s>" % counter
    return f"""
      %c_i = stablehlo.constant dense<{c}> : {i}
      %last_i = stablehlo.constant dense<{n - c}> : {i}
      %z = stablehlo.constant dense<0> : {i}
      %raw_lo = stablehlo.multiply %i, %c_i : {i}
      %lo = stablehlo.minimum %raw_lo, %last_i : {i}"""


def kernel_rows(n, c, d, dt, x, xs_norm="%xn"):
    """%k [c,n] = exp(-0.5 |x_i - x_j|^2), expanded; needs %x (whole), %xn norms [n], %lo."""
    return f"""
      %xs = stablehlo.dynamic_slice {x}, %lo, %z, sizes = [{c}, {d}] : ({t(dt,n,d)}, tensor<i64>, tensor<i64>) -> {t(dt,c,d)}
      %xsn = stablehlo.dynamic_slice {xs_norm}, %lo, sizes = [{c}] : ({t(dt,n)}, tensor<i64>) -> {t(dt,c)}
      %g = stablehlo.dot_general %xs, {x}, contracting_dims = [1] x [1] : ({t(dt,c,d)}, {t(dt,n,d)}) -> {t(dt,c,n)}
      %a = stablehlo.broadcast_in_dim %xsn, dims = [0] : ({t(dt,c)}) -> {t(dt,c,n)}
      %b = stablehlo.broadcast_in_dim {xs_norm}, dims = [1] : ({t(dt,n)}) -> {t(dt,c,n)}
      %h = stablehlo.constant dense<-5.0e-01> : {t(dt,c,n)}
      %ab = stablehlo.add %a, %b : {t(dt,c,n)}
      %gg = stablehlo.add %g, %g : {t(dt,c,n)}
      %r = stablehlo.subtract %ab, %gg : {t(dt,c,n)}
      %e = stablehlo.multiply %r, %h : {t(dt,c,n)}
      %k = stablehlo.exponential %e : {t(dt,c,n)}"""


def norms(n, d, dt):
    return f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %xx = stablehlo.multiply %x, %x : {t(dt,n,d)}
    %xn = stablehlo.reduce(%xx init: %zero) applies stablehlo.add across dimensions = [1] : ({t(dt,n,d)}, {t(dt)}) -> {t(dt,n)}"""


def matvec(n, d, c, dt="f64", carried=False, counter="i64", trip=None):
    """SE kernel matrix-vector product, rows in slices of c, output by dynamic_update_slice."""
    trip = trip or -(-n // c)
    xname = "%xc" if carried else "%x"
    xnname, vname = ("%xnc", "%vc") if carried else ("%xn", "%v")
    body = start(n, c) + kernel_rows(n, c, d, dt, xname, xnname) + f"""
      %y = stablehlo.dot_general %k, {vname}, contracting_dims = [1] x [0] : ({t(dt,c,n)}, {t(dt,n)}) -> {t(dt,c)}
      %new_acc = stablehlo.dynamic_update_slice %acc, %y, %lo : ({t(dt,n)}, {t(dt,c)}, tensor<i64>) -> {t(dt,n)}"""
    whole = [("xc", "%x", t(dt, n, d)), ("xnc", "%xn", t(dt, n)), ("vc", "%v", t(dt, n))] if carried else []
    text = norms(n, d, dt) + f"""
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,n)}"""
    text += while_loop(trip, [("acc", "%init", t(dt, n))], body, whole)
    text += f"    return %w#1 : {t(dt,n)}"
    return module([("x", t(dt, n, d)), ("v", t(dt, n))], [t(dt, n)], text)


def gram_out(n, d, c, dt="f32", init="zero", produce="fusion", whole=False):
    """Big concat output [n, d]: y = tanh(x)+1 (fusion) or y = x @ w (dot). init: zero | input | iota | uninit."""
    trip = -(-n // c)
    z = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}"""
    inits = {
        "zero": f"%init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,n,d)}",
        "constant": f"%init = stablehlo.constant dense<0.0> : {t(dt,n,d)}",
        "iota": f"%init = stablehlo.iota dim = 0 : {t(dt,n,d)}",
        "alloc": f'%init = stablehlo.custom_call @AllocateBuffer() : () -> {t(dt,n,d)}',
        "input": f"%init = stablehlo.add %x, %x : {t(dt,n,d)}",
    }
    one = f"""
      %one = stablehlo.constant dense<1.0> : {t(dt,c,d)}"""
    if produce == "fusion":
        p = one + f"""
      %th = stablehlo.multiply %xs, %xs : {t(dt,c,d)}
      %y = stablehlo.add %th, %one : {t(dt,c,d)}"""
    else:
        p = f"""
      %y = stablehlo.dot_general %xs, %m, contracting_dims = [1] x [0] : ({t(dt,c,d)}, {t(dt,d,d)}) -> {t(dt,c,d)}"""
    body = start(n, c) + f"""
      %xs = stablehlo.dynamic_slice %x, %lo, %z, sizes = [{c}, {d}] : ({t(dt,n,d)}, tensor<i64>, tensor<i64>) -> {t(dt,c,d)}""" + p + f"""
      %new_acc = stablehlo.dynamic_update_slice %acc, %y, %lo, %z : ({t(dt,n,d)}, {t(dt,c,d)}, tensor<i64>, tensor<i64>) -> {t(dt,n,d)}"""
    text = z + "\n    " + inits[init] + while_loop(trip, [("acc", "%init", t(dt, n, d))], body)
    text += f"    return %w#1 : {t(dt,n,d)}"
    return module([("x", t(dt, n, d)), ("m", t(dt, d, d))], [t(dt, n, d)], text)


def sum_of_dots(n, m, c, dt="f64", mask=False):
    """Accumulator [m,m] += xs^T xs over rows slices of c (x [n,m]); mask handles n % c."""
    trip = -(-n // c)
    body = start(n, c) + f"""
      %xs = stablehlo.dynamic_slice %x, %lo, %z, sizes = [{c}, {m}] : ({t(dt,n,m)}, tensor<i64>, tensor<i64>) -> {t(dt,c,m)}"""
    xs = "%xs"
    if mask:
        body += masked("xs", "xm", c, m, dt)
        xs = "%xm"
    body += f"""
      %p = stablehlo.dot_general %xs, {xs}, contracting_dims = [0] x [0] : ({t(dt,c,m)}, {t(dt,c,m)}) -> {t(dt,m,m)}
      %new_acc = stablehlo.add %acc, %p : {t(dt,m,m)}"""
    text = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,m,m)}"""
    text += while_loop(trip, [("acc", "%init", t(dt, m, m))], body)
    text += f"    return %w#1 : {t(dt,m,m)}"
    return module([("x", t(dt, n, m))], [t(dt, m, m)], text)


def masked(src, dst, c, m, dt):
    """%dst = rows of %src whose absolute index lies in this slice (>= i*c), others 0."""
    return f"""
      %rows = stablehlo.iota dim = 0 : {t("i64",c)}
      %lob = stablehlo.broadcast_in_dim %lo, dims = [] : (tensor<i64>) -> {t("i64",c)}
      %rawb = stablehlo.broadcast_in_dim %raw_lo, dims = [] : (tensor<i64>) -> {t("i64",c)}
      %abs = stablehlo.add %rows, %lob : {t("i64",c)}
      %keep = stablehlo.compare GE, %abs, %rawb : ({t("i64",c)}, {t("i64",c)}) -> {t("i1",c)}
      %keepb = stablehlo.broadcast_in_dim %keep, dims = [0] : ({t("i1",c)}) -> {t("i1",c,m)}
      %nul = stablehlo.constant dense<0.0> : {t(dt,c,m)}
      %{dst} = stablehlo.select %keepb, %{src}, %nul : {t("i1",c,m)}, {t(dt,c,m)}"""


def mlp(n, d, h, o, c, dt="f32", trip=None):
    """y = relu(x w1) w2, rows in slices of c."""
    trip = trip or -(-n // c)
    body = start(n, c) + f"""
      %xs = stablehlo.dynamic_slice %x, %lo, %z, sizes = [{c}, {d}] : ({t(dt,n,d)}, tensor<i64>, tensor<i64>) -> {t(dt,c,d)}
      %a = stablehlo.dot_general %xs, %w1, contracting_dims = [1] x [0] : ({t(dt,c,d)}, {t(dt,d,h)}) -> {t(dt,c,h)}
      %nul = stablehlo.constant dense<0.0> : {t(dt,c,h)}
      %r = stablehlo.maximum %a, %nul : {t(dt,c,h)}
      %y = stablehlo.dot_general %r, %w2, contracting_dims = [1] x [0] : ({t(dt,c,h)}, {t(dt,h,o)}) -> {t(dt,c,o)}
      %new_acc = stablehlo.dynamic_update_slice %acc, %y, %lo, %z : ({t(dt,n,o)}, {t(dt,c,o)}, tensor<i64>, tensor<i64>) -> {t(dt,n,o)}"""
    text = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,n,o)}"""
    text += while_loop(trip, [("acc", "%init", t(dt, n, o))], body)
    text += f"    return %w#1 : {t(dt,n,o)}"
    return module([("x", t(dt, n, d)), ("w1", t(dt, d, h)), ("w2", t(dt, h, o))], [t(dt, n, o)], text)


def attention(h, s, d, c, dt="f32", trip=None):
    """softmax(q k^T) v for [h,s,d], query rows in slices of c, all heads in one slice."""
    trip = trip or -(-s // c)
    q3, s3, f3 = t(dt, h, c, d), t(dt, h, c, s), t(dt, h, s, d)
    body = start(s, c) + f"""
      %qs = stablehlo.dynamic_slice %q, %z, %lo, %z, sizes = [{h}, {c}, {d}] : ({f3}, tensor<i64>, tensor<i64>, tensor<i64>) -> {q3}
      %g = stablehlo.dot_general %qs, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : ({q3}, {f3}) -> {s3}
      %neg = stablehlo.constant dense<0xFF800000> : {t(dt)}
      %mx = stablehlo.reduce(%g init: %neg) applies stablehlo.maximum across dimensions = [2] : ({s3}, {t(dt)}) -> {t(dt,h,c)}
      %mb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : ({t(dt,h,c)}) -> {s3}
      %sh = stablehlo.subtract %g, %mb : {s3}
      %e = stablehlo.exponential %sh : {s3}
      %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : ({s3}, {t(dt)}) -> {t(dt,h,c)}
      %sb = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : ({t(dt,h,c)}) -> {s3}
      %p = stablehlo.divide %e, %sb : {s3}
      %y = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : ({s3}, {f3}) -> {q3}
      %new_acc = stablehlo.dynamic_update_slice %acc, %y, %z, %lo, %z : ({f3}, {q3}, tensor<i64>, tensor<i64>, tensor<i64>) -> {f3}"""
    text = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {f3}"""
    text += while_loop(trip, [("acc", "%init", f3)], body)
    text += f"    return %w#1 : {f3}"
    return module([("q", f3), ("k", f3), ("v", f3)], [f3], text)


def kernel_gram(n, m, d, c, dt="f64", mask=False, trip=None):
    """SGPR's inner part: K [c,m] from slice of x and all of z; acc [m,m] += K^T K, b [m] += K^T y."""
    trip = trip or -(-n // c)
    body = start(n, c) + f"""
      %xs = stablehlo.dynamic_slice %x, %lo, %z, sizes = [{c}, {d}] : ({t(dt,n,d)}, tensor<i64>, tensor<i64>) -> {t(dt,c,d)}
      %ys = stablehlo.dynamic_slice %yv, %lo, sizes = [{c}] : ({t(dt,n)}, tensor<i64>) -> {t(dt,c)}
      %xx = stablehlo.multiply %xs, %xs : {t(dt,c,d)}
      %xsn = stablehlo.reduce(%xx init: %zero) applies stablehlo.add across dimensions = [1] : ({t(dt,c,d)}, {t(dt)}) -> {t(dt,c)}
      %g = stablehlo.dot_general %xs, %zi, contracting_dims = [1] x [1] : ({t(dt,c,d)}, {t(dt,m,d)}) -> {t(dt,c,m)}
      %a = stablehlo.broadcast_in_dim %xsn, dims = [0] : ({t(dt,c)}) -> {t(dt,c,m)}
      %b = stablehlo.broadcast_in_dim %zn, dims = [1] : ({t(dt,m)}) -> {t(dt,c,m)}
      %hh = stablehlo.constant dense<-5.0e-01> : {t(dt,c,m)}
      %ab = stablehlo.add %a, %b : {t(dt,c,m)}
      %gg = stablehlo.add %g, %g : {t(dt,c,m)}
      %r = stablehlo.subtract %ab, %gg : {t(dt,c,m)}
      %e = stablehlo.multiply %r, %hh : {t(dt,c,m)}
      %k0 = stablehlo.exponential %e : {t(dt,c,m)}"""
    k = "%k0"
    if mask:
        body += masked("k0", "km", c, m, dt)
        k = "%km"
    body += f"""
      %p = stablehlo.dot_general {k}, {k}, contracting_dims = [0] x [0] : ({t(dt,c,m)}, {t(dt,c,m)}) -> {t(dt,m,m)}
      %pb = stablehlo.dot_general {k}, %ys, contracting_dims = [0] x [0] : ({t(dt,c,m)}, {t(dt,c)}) -> {t(dt,m)}
      %new_acc = stablehlo.add %acc, %p : {t(dt,m,m)}
      %new_vec = stablehlo.add %vec, %pb : {t(dt,m)}"""
    text = f"""
    %zero = stablehlo.constant dense<0.0> : {t(dt)}
    %zz = stablehlo.multiply %zi, %zi : {t(dt,m,d)}
    %zn = stablehlo.reduce(%zz init: %zero) applies stablehlo.add across dimensions = [1] : ({t(dt,m,d)}, {t(dt)}) -> {t(dt,m)}
    %init = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,m,m)}
    %initv = stablehlo.broadcast_in_dim %zero, dims = [] : ({t(dt)}) -> {t(dt,m)}"""
    text += while_loop(trip, [("acc", "%init", t(dt, m, m)), ("vec", "%initv", t(dt, m))], body)
    text += f"    return %w#1, %w#2 : {t(dt,m,m)}, {t(dt,m)}"
    return module([("x", t(dt, n, d)), ("yv", t(dt, n)), ("zi", t(dt, m, d))],
                  [t(dt, m, m), t(dt, m)], text)
