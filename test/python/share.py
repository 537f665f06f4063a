"""A share of the tests' cases: `pytest --share 3 --turn 1`. What the conftest.py of a folder of tests
imports; none stands in test/, which would make the folder test/tensorflow a package that is found."""

import collections


def pytest_addoption(parser):
    parser.addoption(
        "--share", type=int, default=1, help="of each test's cases the first and of the rest each SHARE-th"
    )
    parser.addoption(
        "--turn", type=int, default=0, help="which of them: those that leave TURN, divided by SHARE"
    )
    parser.addoption(
        "--of-all", action="store_true", help="each SHARE-th of all cases together, no first ones"
    )


def pytest_collection_modifyitems(config, items):
    """The cases of one list take turns: the slow ones, the others but for the first of each test."""
    share, turn = config.getoption("--share"), config.getoption("--turn")
    of_all = config.getoption("--of-all")
    seen, numbers, kept, left_out = set(), collections.Counter(), [], []
    for item in items:
        test = item.nodeid.partition("[")[0]
        is_slow = item.get_closest_marker("slow") is not None
        always_runs = test not in seen and not (of_all or is_slow)
        seen.add(test)
        number = numbers[is_slow]
        numbers[is_slow] += not always_runs
        (kept if always_runs or number % share == turn % share else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
