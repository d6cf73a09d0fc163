#!/usr/bin/env python3
"""What Satchel is made of besides its own sources: the locks, the list in SECURITY.md, and the SBOM.

    supply.py lock ROOT                 writes the locks: Swift's packages by Package.resolved, Debian's by what is installed in
                                        ROOT, a directory or a tar of the image's runtime stage (Docker/check.sh keeps one)
    supply.py list                      writes the list into SECURITY.md, by the locks
    supply.py check                     whether it says what the locks do, and they what the sources ask for
    supply.py sbom PROGRAM...           prints a CycloneDX document of what PROGRAMs link on this machine
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import uuid
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
DEBIAN_LOCK = ROOT / "Docker/debian.lock"
SWIFT_LOCK = ROOT / "Docker/Package.resolved"
PAGE = ROOT / "SECURITY.md"
BEGIN, END = "<!-- Written by Packaging/supply/supply.py list. -->\n", "<!-- The end of the list. -->\n"
# The image's release (Docker/Dockerfile).
RELEASE = "trixie"
# What lies in Swift packages of others' sources, and comes with their versions.
BUNDLED = {"swift-crypto": "BoringSSL", "swift-nio-ssl": "BoringSSL", "swift-nio": "llhttp", "yams": "libyaml"}

# What documentation is made with, and nothing links.
TOOLS = {"swift-docc-plugin", "swift-docc-symbolkit"}


# MARK: Locks

def installed(text):
    """Of a status file of dpkg: name → version of what is installed."""
    found = {}
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            found[fields["Package"]] = fields["Version"]
    return found


def status(root):
    """The status file of a root, which is a directory or a tar."""
    path = Path(root)
    if path.is_dir():
        return (path / "var/lib/dpkg/status").read_text(encoding="utf-8")
    with tarfile.open(path) as archive:
        return archive.extractfile("./var/lib/dpkg/status").read().decode()


def debian_lock():
    lines = DEBIAN_LOCK.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def swift_pins(path):
    pins = json.loads(path.read_text(encoding="utf-8"))["pins"]
    return {pin["identity"]: pin for pin in pins if pin["identity"] not in TOOLS}


def pin_version(pin):
    return pin["state"].get("version") or pin["state"]["revision"]


def lock(root):
    packages = installed(status(root))
    day = datetime.now(timezone.utc).strftime("%Y%m%dT000000Z")
    head = [
        "# The Debian packages of the image, as Docker/runtime.sh installs them where LOCKED is set. `make lock` writes it.",
        f"# snapshot {day}",
    ]
    DEBIAN_LOCK.write_text("\n".join(head + [f"{n}={v}" for n, v in sorted(packages.items())]) + "\n", encoding="utf-8")
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))
    # It is of the manifest as it was then; what is wanted are the versions.
    resolved.pop("originHash", None)
    SWIFT_LOCK.write_text(json.dumps(resolved, indent=2) + "\n", encoding="utf-8")


# MARK: The list

def wanted():
    """The packages that a built Satchel needs by name, of the image's release."""
    script = (ROOT / "install-dependencies.sh").read_text(encoding="utf-8")
    names = re.search(r'^run="([^"]*)"', script, re.MULTILINE)[1].split()
    # The newest release's: the last arm of the `case`.
    return names + re.findall(r'^ +run="\$run ([^"]*)"', script, re.MULTILINE)[-1].split()


def listed():
    debian, lines = debian_lock(), []
    lines += ["| Library | Version | Fixes come from |", "| --- | --- | --- |"]
    for name in sorted(wanted()):
        lines.append(f"| {name} | {debian[name]} | Debian's security team: `apt-get upgrade`, or a new image |")
    for name, pin in sorted(swift_pins(SWIFT_LOCK).items()):
        bundled = f", with {BUNDLED[name]}" if name in BUNDLED else ""
        place = pin["location"].removesuffix(".git").removeprefix("https://")
        lines.append(f"| {name}{bundled} | {pin_version(pin)} | {place}: a new build of Satchel |")
    return "\n".join(lines) + "\n"


def page(text):
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return head + BEGIN + text + END + rest.split(END)[1]


def check():
    faults = []
    if PAGE.read_text(encoding="utf-8") != page(listed()):
        faults.append("SECURITY.md doesn't say what the locks do: Packaging/supply/supply.py list")
    pins = swift_pins(SWIFT_LOCK)
    manifest = (ROOT / "Package.swift").read_text(encoding="utf-8")
    for url, least in re.findall(r'\.package\(url: "([^"]*)", from: "([^"]*)"', manifest):
        name = url.rsplit("/", 1)[1].removesuffix(".git").lower()
        if name in TOOLS:
            continue
        if name not in pins:
            faults.append(f"Docker/Package.resolved lacks {name}: make lock")
        elif [int(n) for n in pin_version(pins[name]).split(".")] < [int(n) for n in least.split(".")]:
            faults.append(f"Docker/Package.resolved has {name} {pin_version(pins[name])}, and {least} is asked for: make lock")
    for name in wanted():
        if name not in debian_lock():
            faults.append(f"Docker/debian.lock lacks {name}: make lock")
    return faults


# MARK: SBOM

def linked(programs):
    """The files of the libraries that programs link, as the loader finds them here."""
    found = set()
    for program in programs:
        text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        found |= {os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", text)}
    return found


def owners(files):
    """Which Debian packages files belong to, and the files that belong to none."""
    # Where /lib is a link, a package may know its file by either name.
    names = {name: file for file in files for name in (file, file.removeprefix("/usr"))}
    asked = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False).stdout
    packages, rest = set(), set(files)
    for line in asked.splitlines():
        package, _, name = line.rpartition(": ")
        if name in names and not package.startswith("diversion "):
            packages.add(package.split(",")[0])
            rest.discard(names[name])
    return packages, rest


def debian_components(packages):
    fields = "${Package}\t${Version}\t${Architecture}\t${source:Package} ${source:Version}\n"
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", fields, *sorted(packages)], capture_output=True, text=True, check=True).stdout
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(encoding="utf-8"), re.MULTILINE))
    distribution = f"{release['ID']}-{release.get('VERSION_ID', '')}"
    for line in answer.splitlines():
        name, version, architecture, source = line.split("\t")
        purl = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={architecture}&distro={distribution}"
        yield {
            "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "properties": [{"name": "debian:source", "value": source}],
        }


def swift_component(pin):
    place = pin["location"].removesuffix(".git").removeprefix("https://")
    purl = f"pkg:swift/{place}@{pin_version(pin)}"
    return {
        "type": "library", "bom-ref": purl, "name": pin["identity"], "version": pin_version(pin), "purl": purl,
        "externalReferences": [
            {"type": "vcs", "url": pin["location"], "comment": f"commit {pin['state']['revision']}"}],
    }


def sbom(programs):
    packages, rest = owners(linked(programs))
    # What is read at run time, or loaded by name (libvips' modules for HEIF and JPEG XL are its package's), isn't linked.
    for name in ("ca-certificates", "tzdata", "libmagic-mgc"):
        if subprocess.run(["dpkg-query", "-W", name], capture_output=True, check=False).returncode == 0:
            packages.add(name)
    resolved = ROOT / "Package.resolved"
    pins = swift_pins(resolved if resolved.exists() else SWIFT_LOCK)
    swift = re.search(r"Swift version (\S+)", subprocess.run(
        ["swift", "--version"], capture_output=True, text=True, check=True).stdout)[1]
    # Swift's runtime has a package on no Debian.
    strange = [file for file in rest if "/swift/" not in file]
    if strange:
        sys.exit(f"no package has {', '.join(strange)}")
    components = list(debian_components(packages))
    components += [swift_component(pin) for _, pin in sorted(pins.items())]
    components.append({
        "type": "framework", "bom-ref": f"pkg:generic/swift-runtime@{swift}", "name": "swift-runtime", "version": swift,
        "purl": f"pkg:generic/swift-runtime@{swift}",
        "components": [
            {"type": "file", "bom-ref": f"swift-runtime:{os.path.basename(file)}", "name": os.path.basename(file)}
            for file in sorted(rest)],
    })
    version = re.search(r'static let current = "([^"]*)"', (ROOT / "Sources/Service/satchel/Satchel.swift").read_text("utf-8"))[1]
    own = {
        "type": "application", "bom-ref": f"pkg:generic/satchel@{version}", "name": "satchel", "version": version,
        "licenses": [{"expression": "Apache-2.0"}], "purl": f"pkg:generic/satchel@{version}",
    }
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True, check=True).stdout)
    digest = hashlib.sha256(json.dumps([own, components], sort_keys=True).encode()).hexdigest()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
        # The same for the same contents.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}", "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "component": own},
        "components": components,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [c["bom-ref"] for c in components]}],
    }


def main():
    match sys.argv[1:]:
        case ["lock", root]: lock(root)
        case ["list"]: PAGE.write_text(page(listed()), encoding="utf-8")
        case ["check"]:
            faults = check()
            print("\n".join(faults) or "The locks and SECURITY.md agree.")
            sys.exit(1 if faults else 0)
        case ["sbom", *programs] if programs: print(json.dumps(sbom(programs), indent=2))
        case _: sys.exit(__doc__)


main()
