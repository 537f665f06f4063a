"""Programs for other processors run here, by QEMU.

The emulator and what programs for another processor are linked with are Debian's packages, unpacked
below build/ and not installed: nobody has to be root.
"""

import contextlib
import functools
import pathlib
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/emulator"
PACKAGE = "qemu-user-static"  # needs no library


class Missing(Exception):
    """What this computer can't give; says why."""


@contextlib.contextmanager
def reasons():
    """What Debian does not give is Missing."""
    try:
        yield
    except (subprocess.CalledProcessError, OSError) as error:
        raise Missing(f"its packages can't be had: {error}") from error


# ---- Debian's packages ----
def _apt(folder, architecture, *arguments, status="/dev/null"):
    """apt-get with its own lists, for one architecture, as if what STATUS says were installed."""
    for place in ("state/lists/partial", "cache/archives/partial"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": status,
        "Dir::Cache": folder / "cache",
        "APT::Architecture": architecture,
        "APT::Architectures::": architecture,
        "APT::Sandbox::User": "",
    }
    options = [f"-o{name}={value}" for name, value in settings.items()]
    subprocess.run(["apt-get", "-qq", *options, *arguments], check=True, stdout=subprocess.DEVNULL)


def unpacked(folder, architecture, package, files=(), **settings):
    """FOLDER with PACKAGE and what it depends on; of all that FILES, if any."""
    apt = folder.parent / "apt" / architecture
    if folder.exists():
        return folder
    _apt(apt, architecture, "update", **settings)
    wanted = ["--download-only", "--no-install-recommends", "-y", "install", package]
    _apt(apt, architecture, *wanted, **settings)
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for archive in sorted((apt / "cache/archives").glob("*.deb")):
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", partial, *files], check=True, input=content.stdout)
    shutil.rmtree(apt)
    return partial.rename(folder)


@functools.cache
def command(processor):
    """The program that runs others for PROCESSOR. Raises Missing."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing("the emulator comes as Debian's package")
    own = ["dpkg", "--print-architecture"]
    own = subprocess.run(own, check=True, capture_output=True, text=True).stdout.strip()
    name = f"./usr/bin/qemu-{processor}-static"
    with reasons():
        return unpacked(FOLDER / processor, own, PACKAGE, [name], status="/var/lib/dpkg/status") / name


def wrap(program, by, to):
    """TO runs PROGRAM by the command BY, as if it were for this computer."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, [*by, program]))} "$@"\n')
    to.chmod(0o755)
