"""Tests of the hook in TensorFlow, in an environment that has TensorFlow and no jax."""

import importlib.metadata
import importlib.util
import os
import pathlib
import signal
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from share import pytest_addoption, pytest_collection_modifyitems  # noqa: E402, F401

if importlib.util.find_spec("tensorflow") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("WEIR_CACHE_DIR", "off")
    if not importlib.metadata.version("tensorflow").startswith("2.19."):  # may not know these
        # How fast a result is found out matters in no test.
        quick = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
        os.environ["XLA_FLAGS"] = f"{quick} {os.environ.get('XLA_FLAGS', '')}"
    build = pathlib.Path(os.environ.get("WEIR_BUILD", "build/release")).resolve()
    os.environ.setdefault("WEIR_LIBRARY", str(build / "libweir.so"))
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import weir.tensorflow  # noqa: F401
