"""python -m weir script.py [arguments], or -m module: runs it as Python would, with weir in JAX,
which finds it by itself, and in TensorFlow as soon as that is imported. python -m weir doctor
"""

import importlib.util
import os
import runpy
import sys

USAGE = (
    "usage: python -m weir SCRIPT [ARGUMENTS], or: python -m weir -m MODULE [ARGUMENTS], "
    "or: python -m weir doctor [--json]"
)


class _WithTensorflow:
    """A finder of modules that adds weir.tensorflow when tensorflow has been imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (execute(module), _add())
        return spec


def _add():
    import weir.tensorflow  # noqa: F401


def _run(arguments):
    sys.meta_path.insert(0, _WithTensorflow())
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def main(arguments):
    if arguments[:1] == ["doctor"]:
        from weir import _doctor

        return _doctor.main(arguments[1:])
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if not arguments or arguments == ["-m"]:
        print(USAGE, file=sys.stderr)
        return 2
    _run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
