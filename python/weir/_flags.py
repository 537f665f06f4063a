"""The paper's own flags, on a stock XLA: --xla_tensor_size_threshold=1GB and
--xla_tensor_split_size=500MB are taken out of XLA_FLAGS and become weir's environment variables,
which win where both are given.
"""

import os

_VARIABLES = {
    "--xla_tensor_size_threshold": "WEIR_TENSOR_SIZE_THRESHOLD",
    "--xla_tensor_split_size": "WEIR_TENSOR_SPLIT_SIZE",
}


def take_ours():
    """Leaves the other flags as they are; also a value without "--", which is the name of a file."""
    words = os.environ.get("XLA_FLAGS", "").split()
    ours = [word.partition("=") for word in words if word.partition("=")[0] in _VARIABLES]
    if not ours:
        return
    kept = [word for word in words if word.partition("=")[0] not in _VARIABLES]
    os.environ["XLA_FLAGS"] = " ".join(kept)
    values = {_VARIABLES[name]: value or "(nothing)" for name, _, value in ours}
    for variable, value in values.items():
        os.environ.setdefault(variable, value)
