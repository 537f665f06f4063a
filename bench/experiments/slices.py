"""Question 6: which slice length is fastest.  Each program runs over the same number of rows for
every slice length (full width, only the first rows), so times compare directly.
Run: python bench/experiments/slices.py [matvec matvec32 attention attention_head mlp sgpr]
"""
import loops
import probe

SWEEP = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def sweep(name, make, args, rows, width_bytes, lengths, options=probe.HONEST):
    progs = [(c, probe.Program(make(c, rows // c), options)) for c in lengths]
    best = {c: float("inf") for c in lengths}
    for _ in range(3):                      # interleaved, so that a noisy second hits all alike
        for c, p in progs:
            best[c] = min(best[c], p.run(args, 1)[1])
    low = min(best.values())
    print("%s, %d rows" % (name, rows))
    for c, p in progs:
        print("  c %5d  slice %8.2f MB  temp %8.2f MB  %7.3f s  %5.2fx" % (
            c, c * width_bytes / 1e6, p.mem.temp_size_in_bytes / 1e6, best[c], best[c] / low), flush=True)


def matvec():
    n, d = 100_000, 10
    args = probe.make_args([((n, d), "f64"), ((n,), "f64")])
    sweep("matvec f64 n=1e5 d=10", lambda c, k: loops.matvec(n, d, c, trip=k), args, 2048, 8 * n, SWEEP[:9])


def matvec32():
    n, d = 100_000, 10
    args = probe.make_args([((n, d), "f32"), ((n,), "f32")])
    sweep("matvec f32 n=1e5 d=10", lambda c, k: loops.matvec(n, d, c, "f32", trip=k), args, 2048, 4 * n, SWEEP[:9])


def matvec_narrow():
    n, d = 10_000, 10
    args = probe.make_args([((n, d), "f64"), ((n,), "f64")])
    sweep("matvec f64 n=1e4 d=10", lambda c, k: loops.matvec(n, d, c, trip=k), args, 8192, 8 * n, SWEEP)


def attention():
    h, s, d = 8, 8192, 64
    args = probe.make_args([((h, s, d), "f32")] * 3, scale=0.3)
    sweep("attention f32 8 x 8192 x 64", lambda c, k: loops.attention(h, s, d, c, trip=k), args, 1024,
          4 * h * s, (4, 8, 16, 32, 64, 128, 256, 512, 1024))


def attention_head():
    """One head at a time: what a second split axis (the batch of the dots) buys."""
    h, s, d = 1, 8192, 64
    args = probe.make_args([((h, s, d), "f32")] * 3, scale=0.3)
    sweep("attention f32 1 x 8192 x 64", lambda c, k: loops.attention(h, s, d, c, trip=k), args, 8192,
          4 * h * s, (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192))


def mlp():
    n, d, h, o = 200_000, 64, 4096, 10
    args = probe.make_args([((n, d), "f32"), ((d, h), "f32"), ((h, o), "f32")])
    sweep("mlp f32 64-4096-10", lambda c, k: loops.mlp(n, d, h, o, c, trip=k), args, 65536, 4 * h,
          (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192))


def sgpr():
    n, m, d = 200_000, 500, 8
    args = probe.make_args([((n, d), "f64"), ((n,), "f64"), ((m, d), "f64")])
    sweep("K^T K f64 m=500 d=8", lambda c, k: loops.kernel_gram(n, m, d, c, trip=k), args, 65536, 8 * m,
          (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384))


if __name__ == "__main__":
    probe.setup()
    for f in (matvec, matvec32, matvec_narrow, attention, attention_head, mlp, sgpr):
        if probe.wanted(f.__name__):
            f()
