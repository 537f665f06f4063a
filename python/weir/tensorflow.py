"""`import weir.tensorflow` keeps TensorFlow programs under a memory limit: functions compiled by XLA
(`tf.function(jit_compile=True)`), and all others too where WEIR_TF_JIT=1. The limit is
WEIR_MEMORY_LIMIT, or weir.limit(). `python -m weir script.py` does it for a script as it is.
"""

from weir import _tf_hook, _tf_options

_tf_options.prepare()
_tf_hook.install()
