"""Programs over several processes: all of them decide the same, or all leave the program alone.

Each process asks libweir about the same text, and gets the same answer as long as what it puts in
is the same: settings, limit, machine, and what XLA says of each candidate. That is agreed on, round
by round, in JAX's own key-value store. In a round every process says what it has; the first makes
one value of all of them; all go on with that. Nobody reaches a later round without the others, so
XLA compiles the same programs in the same order everywhere.
"""

import collections
import contextlib
import json
import pathlib
import socket
import threading
import time

import jax

from weir import _jax, _settings

_LONGEST_WAIT_MS = "jax_share_binary_between_hosts_timeout_ms"  # JAX's, for the like
_LOOK_MS = 1000  # between looks at what another process does
_LOOKS = 10  # that must agree
_lock = threading.Lock()
_occurrences = collections.Counter()  # how often a program was agreed on
_open = []  # the agreements that this process works at
_least = {}  # the limit "auto" of processes


class LeftAlone(Exception):
    """A program over several devices, and why it runs without the limit."""


class Silence(Exception):
    """Another process says nothing: there is no telling what it will run."""


_KINDS = (LeftAlone, _settings.SettingError, Silence)


def are_several(devices):
    """Whether processes that run have parts of it; devices of a topology run nowhere."""
    if len({device.process_index for device in devices}) == 1:
        return False
    return devices[0].client.runtime_type != "compile_only_runtime"


class Agreement:
    """What the processes of `devices` agree on about `topic`, a text that all of them have and
    no other program has. After an error all further rounds raise it again.

    with Agreement(...): leaving by an exception tells the others.
    """

    def __init__(self, devices, topic):
        self.members = sorted({device.process_index for device in devices})
        self.me, self.first = devices[0].client.process_index(), self.members[0]
        self.topic, self.round, self.error = topic, 0, None
        self.client = getattr(_jax.distributed, "client", None)
        if self.client is None:
            raise LeftAlone("it runs over several processes, and jax.distributed is not in use")

    def __enter__(self):
        self._announce(_open.append)
        return self

    def __exit__(self, kind, error, _):
        self._announce(_open.remove)
        if kind is not None:
            with contextlib.suppress(Exception):
                self._say(error)

    def check(self):
        """Raises what ended it, if anything did."""
        if self.error is not None:
            raise self.error

    def on(self, value, merge):
        """merge(the values of all processes, in their order), the same for all of them. Values are
        what JSON holds. What merge() raises (LeftAlone, SettingError), or a process says as it
        leaves, all of them raise.
        """
        self.check()
        try:
            if self.me == self.first:
                return self._lead(value, merge)
            self._set(self.me, value)
            return self._get("all", self.first)
        except _KINDS as error:
            self.error = error
            raise
        finally:
            self.round += 1

    def _lead(self, value, merge):
        try:
            agreed = merge([value, *(self._get(p, p) for p in self.members[1:])])
        except _KINDS as error:
            self._say(error)
            raise
        self._set("all", agreed)
        return agreed

    def _say(self, error, at=None):
        """To whoever comes to this round, or waits at the first of another topic with its members."""
        topic, members, round_ = (*at, 0) if at else (self.topic, self.members, self.round)
        known = type(error) in _KINDS
        text = str(error) if known else f"process {self.me}: {type(error).__name__}: {error}"
        kind = _KINDS.index(type(error)) if known else 0
        who = "all" if self.me == members[0] else self.me
        self._write(f"weir/{topic}/{round_}/{who}", None, [kind, text])

    def _key(self, who):
        return f"weir/{self.topic}/{self.round}/{who}"

    def _set(self, who, value):
        self._write(self._key(who), value)

    def _write(self, key, value, error=None):
        self.client.key_value_set(key, json.dumps([value, error]), True)

    def _get(self, who, process):
        value, error = json.loads(self._wait_for(self._key(who), process))
        if error is not None:
            raise _KINDS[error[0]](error[1])
        return value

    # ---- waiting ----
    def _wait_for(self, key, process):
        limit_ms = getattr(jax.config, _LONGEST_WAIT_MS)
        if process == self.first:  # which waits for others
            limit_ms *= 2
        end, looks = time.monotonic() + limit_ms / 1000, 0
        while True:
            try:
                return self.client.blocking_key_value_get(key, min(limit_ms, _LOOK_MS))
            except jax.errors.JaxRuntimeError as error:
                if "DEADLINE_EXCEEDED" not in str(error):
                    raise Silence(f"process {process} can't be asked: {error}") from None
            if time.monotonic() >= end:
                raise Silence(_SILENCE.format(process, limit_ms / 1000, _LONGEST_WAIT_MS))
            elsewhere = self._elsewhere(process)
            looks = looks + 1 if elsewhere else 0
            if looks == _LOOKS:
                for at in elsewhere:
                    self._say(LeftAlone(f"process {self.me} compiles another program instead"), at)
                raise LeftAlone(f"process {process} compiles another program instead")

    def _announce(self, change):
        with _lock:
            change(self)
            at = json.dumps([[a.topic, a.members] for a in _open])
            self.client.key_value_set(f"weir/at/{self.me}", at, True)

    def _elsewhere(self, process):
        """The programs, with their processes, at which it waits for this one, which is at none of
        them.
        """
        with contextlib.suppress(jax.errors.JaxRuntimeError):  # it has said nothing yet
            at = json.loads(self.client.key_value_try_get(f"weir/at/{process}"))
            theirs = [(topic, members) for topic, members in at if self.me in members]
            ours = {agreement.topic for agreement in list(_open)}
            return [] if ours & {topic for topic, _ in theirs} else theirs
        return []


_SILENCE = (
    "process {} has not come to this program within {:g} s ({}): it must compile the same programs "
    "under the same limit, or it has ended"
)


def of_program(devices, program):
    """An Agreement about a program, `program` being a hash of it: each time it is compiled."""
    with _lock:
        _occurrences[program] += 1
        return Agreement(devices, f"{program}/{_occurrences[program]}")


# ---- what is agreed on ----
def same(name):
    """Merges values that must be equal in all processes."""

    def merge(values):
        if any(value != values[0] for value in values):
            raise LeftAlone(f"the processes differ in {name}")
        return values[0]

    return merge


def same_settings(values):
    """Of {name: value} in each process: those of the first."""
    for name in sorted({name for value in values for name in value}):
        found = [value.get(name, "not set") for value in values]
        others = [x for x in found if x != found[0]]
        if others:
            raise _settings.SettingError(
                "weir: the processes of this program have different settings: "
                f"{name} is {found[0]} in one and {others[0]} in another"
            )
    return values[0]


def the_first(values):
    return values[0]


def largest(values):
    """Of what each process's XLA reports of a candidate, pairs of its hash and the report (None: it
    refuses it).
    """
    same("what they make of it")([candidate for candidate, _ in values])
    reports = [memory for _, memory in values]
    if any(memory is None for memory in reports):
        return None
    return max(reports, key=lambda m: m[0] + m[1] - m[2] + m[3])


def least_auto(devices, measure):
    """The limit "auto" of a program over the processes of `devices`: the least of what measure()
    returns in any. Devices that share a machine's memory share what is free there. Agreed on once.
    """
    members = tuple(sorted({device.process_index for device in devices}))
    if members not in _least:
        mine = sum(d.process_index == devices[0].client.process_index() for d in devices)
        shares = devices[0].platform == "cpu"
        with Agreement(devices, f"auto/{members}") as agreement:
            said = [_machine() if shares else agreement.me, mine if shares else 1, measure()]
            _least[members] = agreement.on(said, _least_share)
    return _least[members]


def _least_share(values):
    counts = collections.Counter()
    for machine, devices, _ in values:
        counts[machine] += devices
    return min(free // counts[machine] for machine, _, free in values)


def _machine():
    """The same in all processes of one machine."""
    try:
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return socket.gethostname()
