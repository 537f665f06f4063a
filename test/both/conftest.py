"""Tests of the hooks in TensorFlow and in JAX, in one process: in an environment that has both."""

import importlib.util
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from share import pytest_addoption, pytest_collection_modifyitems  # noqa: E402, F401

if not all(map(importlib.util.find_spec, ("tensorflow", "jax"))):
    collect_ignore_glob = ["test_*.py"]
else:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("WEIR_CACHE_DIR", "off")
    build = pathlib.Path(os.environ.get("WEIR_BUILD", "build/release")).resolve()
    os.environ.setdefault("WEIR_LIBRARY", str(build / "libweir.so"))
