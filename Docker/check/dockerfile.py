"""Carries out one stage of a Dockerfile in a directory that is already its base: what a Docker engine does with the few
instructions that Satchel's Dockerfile keeps to. Anything else is an error, so that nothing is passed over in silence."""

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field


@dataclass
class Image:
    """What an image knows beside its files."""

    environment: dict = field(default_factory=lambda: {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})
    user: str = "0:0"
    directory: str = "/"
    volumes: list = field(default_factory=list)
    ports: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)
    health: list = field(default_factory=list)
    entry: list = field(default_factory=list)
    command: list = field(default_factory=list)
    stop_signal: str = "SIGTERM"


def instructions(path):
    """The instructions of a Dockerfile, as (word, rest), with continued lines joined."""
    joined, found = "", []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if not joined and (not line.strip() or line.lstrip().startswith("#")):
                continue
            if line.endswith("\\"):
                joined += line[:-1] + " "
                continue
            word, _, rest = (joined + line).strip().partition(" ")
            found.append((word.upper(), rest.strip()))
            joined = ""
    return found


def stages(path):
    """Stage name → (base, instructions)."""
    result, current = {}, None
    for word, rest in instructions(path):
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            current = result[name.strip()] = (base.strip(), [])
        elif current is None:
            raise SystemExit(f"{path}: {word} before FROM")
        else:
            current[1].append((word, rest))
    return result


def pairs(rest):
    return dict(item.split("=", 1) for item in shlex.split(rest))


def in_root(root, path):
    """Where a path of the image lies outside of it; links of the image aren't followed out of it."""
    inside = os.path.normpath("/" + path)
    return root + inside


def copy(source, target, into_directory):
    if os.path.isdir(source):
        # As COPY does: the contents, over what is there.
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        return
    if into_directory:
        target = os.path.join(target, os.path.basename(source))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def carry_out(path, stage, root, context, others, only=None):
    """Does what the instructions of a stage say, in `root`; answers the Image.

    - context: the directory that COPY takes from.
    - others: stage name → a directory that stands for that stage's root.
    - only: "files" does what changes files up to the first COPY from another stage (which costs minutes and depends on
      nothing that was built); "rest" does what comes after. Values are gathered in both.
    """
    image, built, arguments = Image(), False, {}
    for word, rest in stages(path)[stage][1]:
        if word == "COPY" and rest.startswith("--from="):
            built = True
        changes = only is None or (only == "rest") == built
        if word == "RUN":
            if not changes:
                continue
            subprocess.run(
                ["chroot", root, "/bin/sh", "-c", rest], check=True, cwd="/",
                env={**arguments, **image.environment, "DEBIAN_FRONTEND": "noninteractive"})
        elif word == "COPY":
            if not changes:
                continue
            origin = context
            if rest.startswith("--from="):
                option, _, rest = rest.partition(" ")
                origin = others[option[len("--from="):]]
            *sources, target = rest.split()
            for source in sources:
                if source.startswith("-") or "*" in source:
                    raise SystemExit(f"COPY {rest}: not carried out here")
                copy(os.path.join(origin, source.lstrip("/")), in_root(root, target), target.endswith("/"))
        elif word == "ARG":
            arguments.update(pairs(rest))
        elif word == "ENV":
            image.environment.update(pairs(rest))
        elif word == "LABEL":
            image.labels.update(pairs(rest))
        elif word == "USER":
            image.user = rest
        elif word == "WORKDIR":
            image.directory = rest
            os.makedirs(in_root(root, rest), exist_ok=True)
        elif word == "VOLUME":
            image.volumes = json.loads(rest)
        elif word == "EXPOSE":
            image.ports = rest.split()
        elif word == "HEALTHCHECK":
            image.health = json.loads(rest.partition("CMD ")[2])
        elif word == "ENTRYPOINT":
            image.entry = json.loads(rest)
        elif word == "CMD":
            image.command = json.loads(rest)
        elif word == "STOPSIGNAL":
            image.stop_signal = rest
        else:
            raise SystemExit(f"{path}: {word} is not carried out here")
    return image
