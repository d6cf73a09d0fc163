"""Runs a command on the image's Debian, with these sources and this machine's Swift: see Tests/debian13.sh.

The root directory is the Dockerfile's stage `build` up to its packages. It is kept, and made again when what it is made
by changes. Inside, `.build` is what `.build-debian13` is outside, and `/mnt/built` what `.build` is outside: what was built
here and there lies side by side.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys

import root
from container import Container

SOURCES = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
KEEP = f"{SOURCES}/.build/docker"
# Outside; what tests of the image find their codec in.
BUILT = f"{SOURCES}/.build-debian13"


def toolchain():
    """This machine's, as the directory that has `bin`, and where it is put inside."""
    described = subprocess.run(["swift", "-print-target-info"], check=True, capture_output=True, text=True).stdout
    outside = os.path.dirname(os.path.dirname(json.loads(described)["paths"]["runtimeResourcePath"]))
    return outside, "/opt/swift/usr" if outside == "/usr" else outside


def digest(name):
    with open(f"{SOURCES}/{name}", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


@contextlib.contextmanager
def pins_kept_out(environment):
    """Where a part of the package is built, SwiftPM would fetch all that is pinned, and then forget the pins."""
    pins = f"{SOURCES}/Package.resolved"
    hides = "SATCHEL_TARGETS" in environment and os.path.exists(pins)
    if hides:
        os.rename(pins, f"{KEEP}/Package.resolved")
    try:
        yield
    finally:
        if hides:
            os.rename(f"{KEEP}/Package.resolved", pins)


class Builder:
    def __init__(self, groups):
        """Has a root with the packages of these groups of install-dependencies.sh."""
        os.makedirs(KEEP, exist_ok=True)
        outside, inside = toolchain()
        # Not a socket's or a terminal's name, but what tests and builds are told by.
        told = {name: value for name, value in os.environ.items() if name.startswith("SATCHEL_")}
        self.container = Container(
            root=f"{KEEP}/builder", privileged=True, seccomp=None, directory=SOURCES,
            environment={
                "PATH": f"{inside}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                "LANG": "C.UTF-8", **told,
            },
            # What was fetched of packages is there, too.
            volumes={
                inside: outside, "/root/.cache/org.swift.swiftpm": os.path.expanduser("~/.cache/org.swift.swiftpm"),
                SOURCES: SOURCES, f"{SOURCES}/.build": BUILT, "/mnt/built": f"{SOURCES}/.build",
            })
        self.install(groups)

    def install(self, groups):
        directory, stamp = self.container.root, f"{KEEP}/builder.json"
        made = {}
        if os.path.exists(stamp):
            with open(stamp, encoding="ascii") as file:
                made = json.load(file)
        wanted = {"base": digest("Docker/check/root.py"), "packages": digest("install-dependencies.sh")}
        if made.get("base") != wanted["base"] or not os.path.exists(directory):
            root.remove(directory)
            root.unpack_base(directory, KEEP)
            made = {}
        # Where the list has changed, what is missing of it is added.
        before = made.get("groups", [])
        if made.get("packages") == wanted["packages"] and set(groups) <= set(before):
            return
        shutil.copy("/etc/resolv.conf", f"{directory}/etc/resolv.conf")
        wanted["groups"] = sorted({*groups, *before})
        self.run(f"{SOURCES}/install-dependencies.sh", *wanted["groups"])
        with open(stamp, "w", encoding="ascii") as file:
            json.dump(wanted, file)

    def run(self, *command):
        """Ends with the command's status where it fails."""
        for inside, outside in self.container.volumes.items():
            os.makedirs(self.container.root + inside, exist_ok=True)
            os.makedirs(outside, exist_ok=True)
        with pins_kept_out(self.container.environment):
            status = subprocess.run([*self.container.prefix(), *command], check=False).returncode
        if status != 0:
            raise SystemExit(status)


def built_codecs(configuration):
    """Builds the codecs, and answers the directory that they lie in, outside."""
    os.environ["SATCHEL_TARGETS"] = "GIFTests,CodecsTests,satchel-codec,satchel-stills"
    for program in ("satchel-codec", "satchel-stills"):
        Builder(["build"]).run("swift", "build", "-c", configuration, "--product", program)
    return os.path.realpath(f"{BUILT}/{configuration}")


def make_stand_ins(programs):
    """For the codecs in a directory below `.build`, whose libraries are there."""
    inside = os.path.join("/mnt/built", os.path.relpath(programs, f"{SOURCES}/.build"))
    Builder(["build"]).run(f"{SOURCES}/Packaging/stand-ins.sh", inside)


if __name__ == "__main__":
    Builder(["build", "test", "check"]).run(*sys.argv[1:])
