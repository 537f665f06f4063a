"""A share of the tests' cases: `pytest --share 3 --turn 1`. What the conftest.py of a folder of tests
imports; none stands in test/, which would make the folder test/tensorflow a package that is found."""

import collections


def pytest_addoption(parser):
    parser.addoption(
        "--share", type=int, default=1, help="of each test's cases the first and each SHARE-th"
    )
    parser.addoption(
        "--turn", type=int, default=0, help="which of them: those that leave TURN, divided by SHARE"
    )


def pytest_collection_modifyitems(config, items):
    share, turn = config.getoption("--share"), config.getoption("--turn")
    numbers, kept, left_out = collections.Counter(), [], []
    for item in items:
        name = item.nodeid.partition("[")[0]
        number = numbers[name]
        numbers[name] += 1
        is_kept = number == 0 or number % share == turn % share
        (kept if is_kept else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
