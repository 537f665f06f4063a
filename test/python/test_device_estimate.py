"""The bound and the estimate for devices against reports of the devices' own XLA, kept in
device_reports.json (`tools/calibrate.py --device NAME --golden` writes it): without their wheels.
"""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import calibrate

GOLDEN = calibrate.device_golden()
DEVICES = pytest.mark.parametrize("device", GOLDEN)


def files_of(device):
    """(file, report) of the corpus' programs, by name."""
    reports = GOLDEN[device]["reports"]
    names = {path.parent.name + path.stem.removeprefix("program"): path for path in calibrate.corpus()}
    return {name: (names[name], size) for name, size in reports.items() if name in names}


@DEVICES
def test_the_upper_bound_is_one(device):
    """What is under it runs without a look at the device's XLA."""
    files = files_of(device)
    paths = [path for path, _ in files.values()]
    bounds = calibrate.run_peak(["--device", device, "--bound"], paths)
    assert len(bounds) == len(paths) >= 100
    low = [name for name, (path, size) in files.items() if bounds[str(path)][-1] < size]
    assert low == []


@DEVICES
def test_the_bound_of_a_cpu_is_none_for_a_device(device):
    """It counts neither tiles nor workspaces: what this file tests can fail."""
    files = files_of(device)
    bounds = calibrate.run_peak(["--bound"], [path for path, _ in files.values()])
    assert any(bounds[str(path)][-1] < size for path, size in files.values())
