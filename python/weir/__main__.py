"""python -m weir doctor"""

import sys

from weir import _doctor

if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] != ["doctor"]:
        sys.exit("usage: python -m weir doctor [--json]")
    sys.exit(_doctor.main(words[1:]))
