"""`import weir.tensorflow` keeps TensorFlow programs under a memory limit: functions compiled by XLA
(`tf.function(jit_compile=True)`), and all others too where WEIR_TF_JIT=1. The limit is
WEIR_MEMORY_LIMIT, or weir.limit(). `python -m weir script.py` does it for a script as it is.
"""

import os

from weir import _tf_calls, _tf_hook

_DISABLE = "--xla_disable_hlo_passes="
# XLA keeps what it moves out of a loop: slices of all trips at once, say.
_HOISTING = "while-loop-invariant-code-motion"
# One thing after the other: what could run at the same time would be there at the same time.
_SCHEDULER = "xla_cpu_enable_concurrency_optimized_scheduler"


def _set_options():
    """TensorFlow's XLA takes options of the process only, read when it first compiles. What the
    environment says of them stays.
    """
    words = os.environ.get("XLA_FLAGS", "").split()
    disabled = [word for word in words if word.startswith(_DISABLE)]
    others = [word for word in words if word not in disabled]
    if not any(_HOISTING in word for word in disabled):
        disabled = [f"{disabled[-1]},{_HOISTING}" if disabled else _DISABLE + _HOISTING]
    if _tf_calls.has_option(_SCHEDULER) and not any(_SCHEDULER in word for word in words):
        others.append(f"--{_SCHEDULER}=false")
    os.environ["XLA_FLAGS"] = " ".join([*others, *disabled])


_set_options()
_tf_hook.install()
