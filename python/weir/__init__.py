"""weir keeps JAX and TensorFlow programs under a memory limit.

Nothing has to be imported for JAX, which finds weir by its entry point: WEIR_MEMORY_LIMIT=2GB in the
environment sets the limit. For TensorFlow `import weir.tensorflow`, or run the script as it is by
`python -m weir script.py`. For more control:

    with weir.limit("1GB"):        # also @weir.limit("1GB")
        f(x)
    print(weir.plan(f, x, limit="1GB"))   # what would be done to f; nothing runs
"""

import contextlib as _contextlib
import functools as _functools
import importlib.util as _util
import itertools as _itertools
import sys as _sys
import threading as _threading

from weir import _flags, _interrupts

_flags.take_ours()  # XLA aborts on flags that it doesn't know, so they must be gone before it looks

__all__ = ["Plan", "WeirWarning", "initialize", "last_report", "limit", "plan", "progress"]

_LAZY = {"Plan": "_plan", "WeirWarning": "_say"}
_plan_number = _itertools.count(1)


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"weir.{_LAZY[name]}"), name)
    if name == "__version__":
        from weir import _library

        return _library.version()
    raise AttributeError(f"module 'weir' has no attribute {name!r}")


def initialize():
    """Puts weir into JAX's compiler. JAX calls it when it looks for backends; calling it again does
    nothing.
    """
    from weir import _hook

    _flags.take_ours()
    _hook.install()


def _has_jax():
    return "jax" in _sys.modules or _util.find_spec("jax") is not None


def _initialize_all():
    """Of the frameworks: JAX if it is installed, TensorFlow if it is imported."""
    if _has_jax():
        initialize()
    if "tensorflow" in _sys.modules:
        import weir.tensorflow  # noqa: F401


class limit(_contextlib.ContextDecorator):
    """with weir.limit("1GB"): programs that this thread compiles stay under it. None: under no
    limit; "auto": what the device has free. Nests, the innermost counts.

    Functions compiled before under another limit, or none, are compiled again. Programs count when
    they are *compiled*: inside of a jitted function it comes too late, and warns.

    mesh: a jax.sharding.Mesh, over whose devices programs of one device are spread (JAX alone): in
    the block jit runs on all of them. What does not fit is divided among them, and the limit is
    each one's. Arguments and results are whole on each. Arrays that were put on a device do not
    go with it: JAX raises a ValueError.

    search_ops: how long a way under the limit is searched for, in ops that weir looks at; None: as
    WEIR_SEARCH_OPS says.
    """

    def __init__(self, value, *, mesh=None, search_ops=None):
        from weir import _settings

        self._bytes = None if value is None else _settings.parse_limit(value, "the limit")
        if mesh is not None and not hasattr(mesh, "devices"):
            raise TypeError(f"weir.limit: a mesh is a jax.sharding.Mesh, not {mesh!r}")
        self._mesh = mesh
        self._search_ops = _count(search_ops, _settings)
        self._entered = _threading.local()

    def __call__(self, function):
        import inspect

        kinds = ("iscoroutinefunction", "isgeneratorfunction", "isasyncgenfunction")
        if any(getattr(inspect, kind)(function) for kind in kinds):
            raise TypeError(
                f"weir.limit: {function.__name__} runs when its caller goes on, not when it is "
                "called: set the limit around what it calls"
            )
        return super().__call__(function)

    def _recreate_cm(self):
        return limit(self._bytes, mesh=self._mesh, search_ops=self._search_ops)

    @_interrupts.undivided
    def __enter__(self):
        may_stop = True  # noqa: F841, for _interrupts
        _initialize_all()
        _warn_inside_jit()
        is_possible = _may_limit()
        may_stop = False  # noqa: F841
        self._begin(is_possible)
        while _interrupts.here.waiting:
            self.__exit__(None, None, None)  # raises, unless the handler of Ctrl-C does not
            self._begin(is_possible)
        return self

    def _begin(self, is_possible):
        given = self._bytes, self._mesh, self._search_ops
        block = _Block(*given) if is_possible else _contextlib.nullcontext()
        _interrupts.begin()
        try:
            block.__enter__()
        except BaseException:
            _interrupts.end()
            raise
        self._entered.blocks = [*getattr(self._entered, "blocks", ()), block]

    @_interrupts.undivided
    def __exit__(self, *exception):
        from weir import _say

        block = self._entered.blocks.pop()
        block.__exit__(*exception)
        _interrupts.end()
        may_stop = True  # noqa: F841
        _interrupts.deliver()
        if getattr(block, "overlapped", False):
            _say.warn(
                "weir.limit() around an await: tasks of one thread share its limit, and another one "
                "entered or left its own meanwhile; set the limit around the calls"
            )


class _Block(_contextlib.ExitStack):
    """What weir.limit() enters: the limit, and the mesh."""

    def __init__(self, limit, mesh, search_ops):
        from weir import _settings

        super().__init__()
        self._mesh = mesh
        self._limit = _settings.entered(limit, None, mesh is not None, search_ops)

    def __enter__(self):
        if self._mesh is not None:
            self.enter_context(_over_all(self._mesh))
        self.enter_context(self._limit)
        return self

    @property
    def overlapped(self):
        return self._limit.overlapped


def _count(search_ops, settings):
    return None if search_ops is None else settings.parse_count(search_ops, "search_ops")


def _over_all(mesh):
    from weir import _jax

    if lacks := _jax.missing(_jax.FOR_A_MESH):
        raise ValueError(f"weir.limit: a mesh needs {lacks}, which this jax lacks")
    return _jax.over_all(mesh)


def _may_limit():
    """Whether weir can hold a limit: of TensorFlow's programs, if that is imported, or of those of
    the jax that there may be. Warns of a jax that lacks what it needs.
    """
    if not _has_jax():
        return True
    from weir import _hook

    if not _hook.may_limit():
        _hook.warn_of_lack()
    return _hook.may_limit() or "tensorflow" in _sys.modules


def _warn_inside_jit():
    if not _has_jax():
        return
    from weir import _jax, _say

    if _jax.is_under_jit():
        _say.warn("weir.limit() inside a jitted function does nothing: set it around the call")


def plan(f, *args, limit=None, device="auto", search_ops=None, **kwargs):
    """What weir does to f(*args, **kwargs) under `limit` (None: the limit in force, f's own first),
    as a weir.Plan. Runs nothing.

    f: a jitted or a plain function, or a tf.function. The arguments may be jax.ShapeDtypeStruct, or
    tf.TensorSpec.
    device: "auto", JAX's default; or what need not be here: a name such as "h100" or "v5e", a JAX
    topology or device; or a list of these, whose plans print() shows as a table, and save() as a
    page. Of a function that is sharded over several devices, of whatever kind, the plan is for as
    many, and the limit and all bytes are each device's. The limit "auto" is nine tenths of its
    memory there, and so is None where no limit is in force. The plan says who judged: the device's
    own XLA, or weir's estimate where that is not installed.
    search_ops: as in weir.limit().
    """
    from weir import _settings

    _initialize_all()
    if not _may_limit():
        raise ValueError("weir.plan: this jax lacks what weir needs (see the warning)")
    local = _settings.local_value()
    bytes_ = (
        _settings.parse_limit(limit, "the limit")
        if limit is not None
        else _ambient(local, _settings)
    )
    given = _count(search_ops, _settings)
    ops = _settings.search_ops() if given is None else given
    if not (isinstance(device, str) and device == "auto"):
        from weir import _devices

        if isinstance(device, (list, tuple)):
            one = _functools.partial(plan, f, *args, limit=limit, search_ops=search_ops, **kwargs)
            return _devices.plans(one, device)
        return _devices.plan(f, args, kwargs, bytes_, device, ops)
    # A key of its own: no cache has this program yet, so the compiler is really called.
    key = next(_plan_number), limit is not None
    with _settings.entered(bytes_, key, _settings.spreads(), ops):
        plans = (_tensorflow_plans if _is_tensorflows(f) else _jax_plans)(f, args, kwargs)
    if not plans:
        raise ValueError("weir.plan: weir left this program alone (see the warning)")
    return plans[-1]


def _is_tensorflows(f):
    """A tf.function; also a plain function, where there is no jax."""
    return hasattr(f, "get_concrete_function") or ("tensorflow" in _sys.modules and not _has_jax())


def _jax_plans(f, args, kwargs):
    import jax
    from weir import _ahead

    lowered = (f if hasattr(f, "lower") else jax.jit(f)).lower(*args, **kwargs)
    return _ahead.plans_of(lowered.compile)


def _tensorflow_plans(f, args, kwargs):
    from weir import _tf_hook

    return _tf_hook.plans_of(f, args, kwargs)


@_contextlib.contextmanager
def progress():
    """with weir.progress(): loops that weir makes of programs compiled in the block, by this thread,
    show how far they are while they run in one: a line on stderr, if that is a terminal, with
    percentage, slices a second and the time that is left. In a notebook, where tqdm is installed, its
    bar, also with what the limit leaves free. Ctrl-C ends such a loop within a slice.
    WEIR_PROGRESS=1 does so for the whole process.
    """
    from weir import _progress, _settings

    _initialize_all()
    if not _may_limit():
        yield
        return
    with _settings.showing_progress(), _progress.shown():
        yield


def _ambient(local, settings):
    return local[0] if local is not None else (settings.active() or {}).get("memory_limit_bytes")


def last_report():
    """The weir.Plan of the last program that weir changed or refused, of any thread; None if there
    was none.
    """
    from weir import _say

    return _say.last_report
