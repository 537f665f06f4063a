"""weir's estimate for this CPU, and for GPUs and TPUs that are not here, beside the report of their own
XLA, of random programs as they came and split under limits.

    build/devices/bin/python tools/fuzz_devices.py --device v5e --count 100 [--first SEED]
                                                   [--seconds 500] [--keep DIR]
    .venv/bin/python tools/fuzz_devices.py --device cpu --count 100

A seed stands for one program (test/python/random_devices.py) and the share of its temporaries that
the limit leaves. Prints for each its ratio, estimate / report; at the end the lowest one, the median
and how many are out of bounds, of all programs and of those larger than 10 MB. Reports are kept in
build/fuzz-DEVICE.json, so that what was compiled is not compiled again. Exits 1 if an estimate is
low.
"""

import argparse
import os
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
sys.path.insert(0, str(ROOT / "tools"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before JAX is imported
import calibrate  # noqa: E402
import random_devices  # noqa: E402

PLATFORMS = calibrate.PLATFORMS | {"cpu": "cpu"}
LEAST = calibrate.DEVICE_LOW | {"cpu": calibrate.LOW}
SLACK_BYTES = calibrate.DEVICE_SLACK_BYTES | {"cpu": calibrate.SLACK_BYTES}
MOST, LARGE_BYTES = 1.5, 10_000_000
LIMIT_SHARES = (0.6, 0.3, 0.1, 0.03)  # of the temporaries


def ways_of(device):
    return calibrate.CPU_WAYS if device == "cpu" else calibrate.device_ways(device)


def lowered(seed, platform):
    import jax

    programs = random_devices.Programs(seed)
    traced = jax.jit(programs.function()).trace(*programs.shapes())
    return traced.lower(lowering_platforms=(platform,)).as_text()


def cases(seed, device):
    """The program as it came, and rewritten under a limit."""
    ways = ways_of(device)
    name, text = f"seed {seed}", lowered(seed, PLATFORMS[device])
    came = calibrate.cases_of(name, text, ways=ways)
    estimate = calibrate.estimates(came).get(came[0])
    if estimate is None:
        return came  # compare() says that there is none
    arguments, outputs, alias, temporaries, _ = estimate
    share = random.Random(seed).choice(LIMIT_SHARES)
    limit = arguments + outputs - alias + max(int(temporaries * share), 1)
    return calibrate.cases_of(name, text, limit, ways)


def is_low(row, platform):
    return row.estimate + SLACK_BYTES[platform] < LEAST[platform] * row.report


def is_high(row):
    return row.ratio > MOST and row.estimate > LARGE_BYTES


def line_of(row, platform):
    mark = "LOW" if is_low(row, platform) else "high" if is_high(row) else ""
    numbers = f"{row.ratio:7.3f} {row.estimate:>13,} of {row.report:>13,}"
    return f"{row.case.name:>10} {row.case.way:<16} {numbers} {mark}"


def summary(title, rows, platform):
    if not rows:
        return f"{title}: none"
    ratios = [row.ratio for row in rows]
    low = sum(is_low(row, platform) for row in rows)
    return (
        f"{title}: {len(rows)} programs, lowest {min(ratios):.3f}, median "
        f"{statistics.median(ratios):.3f}, within 5 %: {sum(abs(r - 1) <= 0.05 for r in ratios)}, "
        f"below {LEAST[platform]}: {low}, above {MOST}: {sum(r > MOST for r in ratios)}"
    )


def keep(folder, cases):
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        (folder / f"{case.name} {case.way}.mlir".replace(" ", "-")).write_text(case.text)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=PLATFORMS, required=True)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9, help="after which none is begun")
    parser.add_argument("--keep", type=pathlib.Path, help="where programs out of bounds are put")
    return parser.parse_args()


def main():
    args = parse()
    platform = PLATFORMS[args.device]
    if platform != "cpu":
        calibrate.devices_of(args.device)  # ends here without XLA's compiler
    report = calibrate.KeptReports(calibrate.ROOT / f"build/fuzz-{args.device}.json")
    rows, end = [], time.monotonic() + args.seconds
    for seed in range(args.first, args.first + args.count):
        if time.monotonic() > end:
            print(f"no time for seeds from {seed} on")
            break
        found, failed = calibrate.compare(cases(seed, args.device), report)
        for row in found:
            print(line_of(row, platform), flush=True)
        for line in failed:
            print("no number:", line, flush=True)
        if args.keep:
            keep(args.keep, [row.case for row in found if is_low(row, platform) or is_high(row)])
        rows += found
    for way in ways_of(args.device):
        some = [row for row in rows if row.case.way == way]
        print(summary(way, some, platform))
        print(summary(f"{way}, > 10 MB", [r for r in some if r.report > LARGE_BYTES], platform))
    return any(is_low(row, platform) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
