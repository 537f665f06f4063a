"""Objects of a framework by name, for what it does not promise to keep."""

import importlib


def find(path):
    """The object at "package.module:name.name"; None if there is none."""
    module, _, names = path.partition(":")
    try:
        found = importlib.import_module(module)
        for name in names.split(".") if names else ():
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return None
    return found
