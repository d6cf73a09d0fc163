"""The image's root directory: Debian's base, the runtime stage, what was built. The first two are kept as archives."""

import hashlib
import os
import shutil
import subprocess

import dockerfile

# The image's release of Debian, and the one that what is built for it is built on.
RELEASE = "trixie"

# What debian:trixie-slim leaves out, besides the copyright files that it keeps.
SLIM = """path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/info/*
path-exclude /usr/share/groff/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/linda/*
"""
SLIMMED = ["man", "locale", "info", "groff", "lintian", "linda"]


def mirrors(release):
    """suite → address: the mirrors that this machine's apt asks, for whatever release."""
    main, security = "http://deb.debian.org/debian", "http://deb.debian.org/debian-security"
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(CODENAME) $(REPO_URI) $(ORIGIN)", "Created-By: Packages"],
        capture_output=True, text=True, check=False).stdout
    for line in targets.splitlines():
        _, codename, address, *origin = line.split()
        if not origin or origin[0] != "Debian":
            continue
        if codename.endswith("-security"):
            security = address.rstrip("/")
        elif "-" not in codename:
            main = address.rstrip("/")
    return {release: main, f"{release}-security": security}


def unpack(archive, root):
    os.makedirs(root)
    subprocess.run(["tar", "--extract", "--numeric-owner", "--file", archive, "--directory", root], check=True)


def pack(root, archive):
    subprocess.run(
        ["tar", "--create", "--numeric-owner", "--one-file-system", "--file", archive + ".part", "--directory", root, "."],
        check=True)
    os.rename(archive + ".part", archive)


def remove(root):
    """Removes a root, which nothing is mounted in: mounts are made in namespaces of their own."""
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        assert not any(line.split()[4].startswith(root + "/") for line in mounts), f"something is mounted in {root}"
    shutil.rmtree(root, ignore_errors=False) if os.path.exists(root) else None


def make_base(root, archive, release):
    found = mirrors(release)
    subprocess.run(
        ["debootstrap", "--variant=minbase", release, root, found[release]], check=True, stdout=subprocess.DEVNULL)
    with open(f"{root}/etc/apt/sources.list", "w", encoding="ascii") as file:
        for suite, address in found.items():
            file.write(f"deb {address} {suite} main\n")
    with open(f"{root}/etc/dpkg/dpkg.cfg.d/slim", "w", encoding="ascii") as file:
        file.write(SLIM)
    # No service starts when a package is installed, as in Docker's images.
    with open(f"{root}/usr/sbin/policy-rc.d", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 101\n")
    os.chmod(f"{root}/usr/sbin/policy-rc.d", 0o755)
    for name in SLIMMED:
        shutil.rmtree(f"{root}/usr/share/{name}", ignore_errors=True)
    subprocess.run(["chroot", root, "apt-get", "clean"], check=True)
    shutil.rmtree(f"{root}/var/lib/apt/lists")
    pack(root, archive)


def unpack_base(root, keep, release=RELEASE):
    """A fresh Debian in `root`, which isn't there yet."""
    archive = f"{keep}/{release}.tar"
    if os.path.exists(archive):
        unpack(archive, root)
    else:
        make_base(root, archive, release)


def make_context(sources, context):
    """What an engine is sent of the sources, by a .dockerignore that names what stays: after `*`, lines with `!`."""
    shutil.rmtree(context, ignore_errors=True)
    os.makedirs(context)
    with open(f"{sources}/.dockerignore", encoding="utf-8") as file:
        rules = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    if rules[0] != "*" or not all(rule.startswith("!") for rule in rules[1:]):
        raise SystemExit(".dockerignore: only '*' and then lines with '!' are understood here")
    for rule in rules[1:]:
        os.makedirs(os.path.dirname(f"{context}/{rule[1:]}"), exist_ok=True)
        dockerfile.copy(f"{sources}/{rule[1:]}", f"{context}/{rule[1:]}", False)
    # What the build stage has made by then.
    os.symlink(f"{sources}/.build", f"{context}/.build")


def make_root(sources, keep, built, codecs, complete):
    """Carries out the runtime stage; answers the root and the image's values.

    - built: the directory with `satchel`, which runs on the release that it was built on and on later ones.
    - codecs: the one with `satchel-codec` and `satchel-stills`, built on the image's own release, whose libraries it links.
    - complete: is given the directory of the programs as it will be in the image, for what has to be done on that release.
    """
    path, context = f"{sources}/Docker/Dockerfile", f"{keep}/context"
    make_context(sources, context)
    root, assembled = f"{keep}/root", f"{keep}/assembled"
    remove(root)
    digest = hashlib.sha256()
    for name in (
            "Docker/Dockerfile", "Docker/runtime.sh", "Docker/debian.lock", "install-dependencies.sh", "Docker/check/root.py"):
        with open(f"{sources}/{name}", "rb") as file:
            digest.update(file.read())
    runtime = f"{keep}/runtime-{digest.hexdigest()[:16]}.tar"
    if os.path.exists(runtime):
        unpack(runtime, root)
    else:
        unpack_base(root, keep)
        # What an engine lends the container that builds.
        shutil.copy("/etc/resolv.conf", f"{root}/etc/resolv.conf")
        dockerfile.carry_out(path, "runtime", root, context, {}, only="files")
        os.unlink(f"{root}/etc/resolv.conf")
        for old in os.listdir(keep):
            if old.startswith("runtime-"):
                os.unlink(f"{keep}/{old}")
        pack(root, runtime)
    shutil.rmtree(assembled, ignore_errors=True)
    subprocess.run([f"{context}/Docker/assemble.sh", built, f"{assembled}/image", codecs], check=True)
    complete(f"{assembled}/image/usr/local/lib/satchel")
    image = dockerfile.carry_out(path, "runtime", root, context, {"build": assembled}, only="rest")
    shutil.copy("/etc/resolv.conf", f"{root}/etc/resolv.conf")
    return root, image


def megabytes(*paths):
    """What lies in directories, in millions of bytes."""
    total = 0
    for path in paths:
        for directory, _, names in os.walk(path):
            total += sum(os.lstat(os.path.join(directory, name)).st_size for name in names)
    return round(total / 1e6)
