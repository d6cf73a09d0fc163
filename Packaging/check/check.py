"""Checks the Debian package: see Packaging/check.sh."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCES = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, f"{SOURCES}/Docker/check")

import expectation  # noqa: E402
import root  # noqa: E402
from expectation import expect  # noqa: E402
from machine import Machine  # noqa: E402
from service import ask, submit  # noqa: E402

KEEP = f"{SOURCES}/.build/docker"
TARGET = f"{SOURCES}/.build/deb"
SAMPLES = [("jpeg/earth-12-megapixels.jpg", "image/jpeg"), ("m4v/film.m4v", "video/mp4")]
UNIT = "/lib/systemd/system/satchel.service"
# Of 10, by systemd's own reckoning: what is left are the network and the namespaces, which the service is for.
EXPOSURE = 2.5
PORT = 8080
# As docs/operate/install.md has it.
AS_SERVICE = [
    "systemd-run", "--pipe", "--collect", "--property=DynamicUser=yes", "--property=User=satchel",
    "--property=StateDirectory=satchel",
]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def release():
    """This machine's, which the package is built for."""
    with open("/etc/os-release", encoding="utf-8") as file:
        return re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)[1]


def make_package(built):
    # Quickly, as it is thrown away.
    quickly = {**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    made = run(f"{SOURCES}/Packaging/build.sh", built, TARGET, env=quickly)
    expect(made.returncode == 0, "the package is built of what was built", made.stdout + made.stderr)
    (name,) = (name for name in os.listdir(TARGET) if name.endswith(".deb"))
    return f"{TARGET}/{name}"


def check_package(package, built):
    print("the package")
    field = lambda name: run("dpkg-deb", "--field", package, name).stdout.strip()
    version = run(f"{built}/satchel", "--version").stdout.strip()
    expect(field("Version") == version, "its version is the program's", f"{field('Version')}, {version}")
    depends = field("Depends")
    needed = ["libc6 (>=", "libvips42", "libavformat", "libseccomp2 (>=", "libpq5", "ca-certificates", "tzdata"]
    expect(all(name in depends for name in needed), "it depends on the libraries that its programs link", depends)
    judged = run("lintian", "--fail-on", "error,warning", "--allow-root", package)
    expect(judged.returncode == 0, "lintian finds neither errors nor warnings", judged.stdout + judged.stderr)
    return depends


def make_root(depends):
    """A root with systemd and what the package depends on, but without it; kept as an archive."""
    packages = ["systemd", "systemd-sysv", "dbus", "procps", *re.findall(r"(?:^|, )([a-z0-9.+-]+)", depends)]
    digest = hashlib.sha256(" ".join(packages).encode())
    with open(f"{SOURCES}/Docker/check/root.py", "rb") as file:
        digest.update(file.read())
    directory, archive = f"{KEEP}/machine", f"{KEEP}/machine-{digest.hexdigest()[:16]}.tar"
    root.remove(directory)
    if os.path.exists(archive):
        root.unpack(archive, directory)
        return directory
    root.unpack_base(directory, KEEP, release())
    shutil.copy("/etc/resolv.conf", f"{directory}/etc/resolv.conf")
    made = run(
        "chroot", directory, "sh", "-ec", f"""
            apt-get update -qq
            apt-get install -y -qq --no-install-recommends {' '.join(packages)}
            apt-get clean
            rm -rf /var/lib/apt/lists/* /usr/sbin/policy-rc.d
            """, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"})
    if made.returncode != 0:
        raise SystemExit(made.stdout + made.stderr)
    for old in os.listdir(KEEP):
        if old.startswith("machine-"):
            os.unlink(f"{KEEP}/{old}")
    root.pack(directory, archive)
    return directory


@contextlib.contextmanager
def booted(directory):
    with tempfile.NamedTemporaryFile(mode="w", prefix="satchel-machine-") as log:
        machine = Machine(directory, log)
        try:
            yield machine
        finally:
            machine.stop()


def shown(machine, unit, *properties):
    lines = machine.run("systemctl", "show", unit, *(f"--property={name}" for name in properties)).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines)


def journal(machine):
    machine.run("journalctl", "--sync")
    return machine.run("journalctl", "--unit=satchel.service", "--output=cat").stdout


def said(machine, message):
    """The fields of the service's last line with that message."""
    lines = [json.loads(line) for line in journal(machine).splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("message") == message][-1]


def files(directory):
    """What lies in a root, without what a running system writes."""
    written = ("./proc", "./sys", "./dev", "./run", "./tmp", "./var/log", "./var/tmp", "./var/cache", "./var/lib/systemd")
    listed = run("find", ".", "-xdev", cwd=directory).stdout.splitlines()
    return {name for name in listed if not name.startswith(written)}


def check_dependencies(machine, directory, package):
    """Has install-dependencies.sh install a package with a service: this one, from a repository in the machine."""
    print("a service that install-dependencies.sh installs")
    repository, sources = f"{directory}/root/repository", f"{directory}/etc/apt/sources.list"
    os.makedirs(repository)
    shutil.copy(package, repository)
    with open(f"{repository}/Packages", "w", encoding="utf-8") as file:
        file.write(run("dpkg-scanpackages", ".", cwd=repository).stdout)
    with open(sources, encoding="utf-8") as file:
        mirrors = file.read()
    with open(sources, "w", encoding="utf-8") as file:
        file.write("deb [trusted=yes] file:/root/repository ./\n")
    with open(f"{SOURCES}/install-dependencies.sh", encoding="utf-8") as file:
        script = re.sub(r'\btest="[^"]*"', 'test="satchel"', file.read())
    with open(f"{repository}/install.sh", "w", encoding="utf-8") as file:
        file.write(script)
    done = machine.run("sh", "/root/repository/install.sh", "test")
    expect(
        done.returncode == 0 and re.search(r"^Installing 1 Debian packages .*\n  satchel\n", done.stderr, re.M),
        "it names the package and installs it", done.stdout + done.stderr)
    off = {"ActiveState": "inactive", "UnitFileState": "disabled"}
    state = lambda: shown(machine, "satchel.service", *off)
    expect(state() == off, "the service is neither started nor enabled", str(state()))
    again = machine.run("apt-get", "install", "-y", "-qq", "--reinstall", "satchel")
    expect(again.returncode == 0 and state() == off, "a later upgrade does not change that", again.stderr + str(state()))
    purged = machine.run("dpkg", "--purge", "satchel")
    expect(purged.returncode == 0, "it is purged", purged.stdout + purged.stderr)
    with open(sources, "w", encoding="utf-8") as file:
        file.write(mirrors)
    machine.run("sh", "-c", "rm -rf /root/repository /var/lib/apt/lists/*")


def check_unit(machine):
    print("its unit")
    verified = machine.run("systemd-analyze", "verify", "--man=no", UNIT, UNIT.replace(".service", ".socket"))
    expect(
        verified.returncode == 0 and not verified.stderr, "systemd finds nothing wrong with it", verified.stdout + verified.stderr)
    judged = machine.run("systemd-analyze", "security", "--offline=yes", "--no-pager", f"--threshold={EXPOSURE * 10:.0f}", UNIT)
    overall = re.search(r"Overall exposure level.*?: ([\d.]+)", judged.stdout)
    expect(
        judged.returncode == 0, f"systemd reckons an exposure of at most {EXPOSURE} of 10: {overall and overall[1]}",
        judged.stdout + judged.stderr)


def check_service(machine):
    print("the service")
    state = shown(
        machine, "satchel.service", "ActiveState", "StatusText", "MainPID", "UID", "DynamicUser", "Result", "UnitFileState")
    expect(
        state["ActiveState"] == "active" and state["UnitFileState"] == "enabled", "it runs once it is installed, and at every start",
        str(state) + journal(machine))
    expect(state["StatusText"] == f"Listening on 127.0.0.1:{PORT}", "it says to systemd where it listens", str(state))
    expect(int(state["UID"]) >= 61184, "its user is made for it", str(state))
    expect("satk_" not in journal(machine), "the journal has no key", journal(machine))
    expect(said(machine, "listening")["sandbox"] == "full", "its codecs are confined by all that there is", journal(machine))
    heard = shown(machine, "satchel.service", "WatchdogTimestampMonotonic")

    made = machine.run("satchel", "key", "create", "--name", "check", "--format", "json")
    expect(made.returncode == 0, "root makes a key beside it", made.stdout + made.stderr)
    key = json.loads(made.stdout)["key"]
    for name, media_type in SAMPLES:
        job = submit(PORT, key, f"{SOURCES}/Media/{name}", media_type)
        expect(job["state"] == "delivered", f"{name} is delivered", json.dumps(job, indent=1) + journal(machine))
        main = job["attachments"][0]["renditions"]["main"]
        content = ask(PORT, "GET", main["url"].removeprefix(f"http://127.0.0.1:{PORT}"))
        expect(content.status == 200 and len(content.body) == main["bytes"], "its rendition can be had", str(content.headers))
    verified = machine.run(*AS_SERVICE, "satchel", "store", "verify")
    expect("blobs verified" in verified.stdout, "a command runs as the service does", verified.stdout + verified.stderr)
    expect("thread priority" not in journal(machine), "the journal has its own lines alone", journal(machine))
    machine.wait_for("a sign of life", lambda: shown(machine, "satchel.service", "WatchdogTimestampMonotonic") != heard)
    expect(True, "systemd's watchdog hears from it")

    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "satchel.service")
    machine.wait_for("the next process", lambda: shown(machine, "satchel.service", "NRestarts", "ActiveState") == {
        "NRestarts": "1", "ActiveState": "active"})
    again = ask(PORT, "GET", f"/v1/jobs/{job['id']}", Authorization=f"Bearer {key}")
    expect(json.loads(again.body)["state"] == "delivered", "killed, it is started again, and finds its jobs", str(again.body))
    stopped = machine.run("systemctl", "stop", "satchel.service")
    state = shown(machine, "satchel.service", "Result", "ExecMainStatus")
    expect(
        stopped.returncode == 0 and state == {"Result": "success", "ExecMainStatus": "0"}, "it stops in order",
        str(state) + journal(machine))
    return key, job


def check_activation(machine, key, job):
    print("its socket")
    enabled = machine.run("systemctl", "enable", "--now", "satchel.socket")
    state = shown(machine, "satchel.service", "ActiveState")["ActiveState"]
    expect(enabled.returncode == 0 and state == "inactive", "systemd listens, and the service doesn't run", enabled.stderr)
    answer = ask(PORT, "GET", f"/v1/jobs/{job['id']}", Authorization=f"Bearer {key}")
    expect(answer.status == 200, "the request that starts the service is answered", str(answer.body) + journal(machine))
    expect(said(machine, "listening")["address"] == f"127.0.0.1:{PORT}", "it serves systemd's socket", journal(machine))
    machine.run("systemctl", "disable", "--now", "satchel.socket", "satchel.service")
    machine.run("systemctl", "enable", "satchel.service")


def check_mistakes(machine):
    print("mistakes")
    path = f"{KEEP}/machine/etc/satchel/satchel.yaml"
    with open(path, encoding="utf-8") as file:
        sound = file.read()
    with open(path, "a", encoding="utf-8") as file:
        file.write("codecs: many\n")
    machine.run("systemctl", "start", "satchel.service")
    state = shown(machine, "satchel.service", "ActiveState", "NRestarts", "ExecMainStatus")
    expect(
        state == {"ActiveState": "failed", "NRestarts": "0", "ExecMainStatus": "2"} and "codecs" in journal(machine),
        "settings that can't be taken end it once, with a sentence in the journal", str(state) + journal(machine))
    with open(path, "w", encoding="utf-8") as file:
        file.write(sound)
    machine.run("systemctl", "reset-failed", "satchel.service")
    started = machine.run("systemctl", "start", "satchel.service")
    expect(started.returncode == 0, "corrected, it starts", journal(machine))


def check_end(machine, directory, before):
    print("its end")
    removed = machine.run("dpkg", "--remove", "satchel")
    expect(removed.returncode == 0, "it is removed while it runs", removed.stdout + removed.stderr)
    expect(machine.run("pgrep", "satchel").returncode == 1, "nothing of it runs on")
    left = files(directory) - before
    expect(
        {"./etc/satchel/satchel.yaml", "./var/lib/private/satchel/access.keys"} <= left and not any("/usr/" in name for name in left),
        "its settings and the store stay", "\n".join(sorted(left)))
    purged = machine.run("dpkg", "--purge", "satchel")
    expect(purged.returncode == 0, "it is purged", purged.stdout + purged.stderr)
    left = files(directory) - before - {"./var/lib/private"}
    expect(not left, "then nothing of it is left", "\n".join(sorted(left)))


def main():
    built = os.path.abspath(sys.argv[1])
    os.makedirs(KEEP, exist_ok=True)
    start = time.monotonic()
    package = make_package(built)
    depends = check_package(package, built)
    directory = make_root(depends)
    expectation.own_network()
    with booted(directory) as machine:
        check_dependencies(machine, directory, package)
        before = files(directory)
        shutil.copy(package, f"{directory}/root/satchel.deb")
        installed = machine.run("dpkg", "--install", "/root/satchel.deb")
        expect(installed.returncode == 0, "it is installed", installed.stdout + installed.stderr)
        os.unlink(f"{directory}/root/satchel.deb")
        check_unit(machine)
        key, job = check_service(machine)
        check_activation(machine, key, job)
        check_mistakes(machine)
        check_end(machine, directory, before)
    root.remove(directory)
    print(f"{expectation.passed} checks passed in {time.monotonic() - start:.0f} s.")


if __name__ == "__main__":
    main()
