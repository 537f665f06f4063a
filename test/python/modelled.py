"""The version whose XLA weir's estimate is a model of. All suites run with it but those that are
there for another.
"""

import jaxlib

VERSION = "0.10.2"
RUNS = jaxlib.__version__ == VERSION
