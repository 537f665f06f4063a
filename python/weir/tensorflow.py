"""`import weir.tensorflow` keeps TensorFlow programs under a memory limit: functions compiled by XLA
(`tf.function(jit_compile=True)`), and all others too where WEIR_TF_JIT=1. The limit is
WEIR_MEMORY_LIMIT, or weir.limit(). `python -m weir script.py` does it for a script as it is.
"""

import os

_DISABLE = "--xla_disable_hlo_passes="
# XLA keeps what it moves out of a loop: slices of all trips at once, say.
_HOISTING = "while-loop-invariant-code-motion"


def _leave_loops_alone():
    """TensorFlow's XLA takes options of the process only, read when it first compiles."""
    words = os.environ.get("XLA_FLAGS", "").split()
    ours = [word for word in words if word.startswith(_DISABLE)]
    if any(_HOISTING in word for word in ours):
        return
    disabled = f"{ours[-1]},{_HOISTING}" if ours else _DISABLE + _HOISTING
    os.environ["XLA_FLAGS"] = " ".join([*(w for w in words if w not in ours), disabled])


_leave_loops_alone()

from weir import _tf_hook  # noqa: E402

_tf_hook.install()
