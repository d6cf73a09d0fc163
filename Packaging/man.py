#!/usr/bin/env -S python3 -B
"""Writes the man pages of satchel: one for each command, made from its help.

    Packaging/man.py PROGRAM DIRECTORY

`man satchel batch` shows the page satchel-batch(1). The date is that of SOURCE_DATE_EPOCH, or today.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = (Path(__file__).parent / "repository").read_text(encoding="utf-8").strip()
# Each with the flag of the commands that use it, or None for all commands.
ENVIRONMENT = [
    ("SATCHEL_STORE", "store", "The store, if --store is not given."),
    ("SATCHEL_ACCESS_KEYS", "store", "The file of the access keys, from which tokens are derived."),
    ("SATCHEL_BLOBS", "store", "The bucket of a store in PostgreSQL: s3://bucket/prefix."),
    ("SATCHEL_PROFILES", "profiles", "A file of additional profiles, if --profiles is not given."),
    ("SATCHEL_CODEC", "require-sandbox", "The directory of satchel-codec and satchel-stills, if they are not in that of satchel "
        "or in ../libexec."),
    ("SATCHEL_CONFIG", None, "The settings file, instead of /etc/satchel/satchel.yaml."),
    ("SATCHEL_...", None, "Any other setting. 'satchel config keys' lists the names."),
    ("PGPASSWORD", "store", "The password for a store in PostgreSQL."),
    ("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY", "store", "Credentials for buckets. The other sources of AWS's tools work as well."),
    ("XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME", "store", "The base directories of the files below. The defaults are "
        "~/.local/share, ~/.config and ~/.cache."),
    ("NO_COLOR", "report", "If set, rows are not colored."),
]

FILES = [
    ("/etc/satchel/satchel.yaml", None, "The settings."),
    ("~/.local/share/satchel", "store", "The store, unless another one is named."),
    ("~/.config/satchel/access.keys", "store", "The access keys, unless the setting access.keys names another file."),
    ("~/.cache/satchel", "store", "Temporary files for a store in PostgreSQL, unless the setting spool names another directory."),
]

SPECIAL = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha", "…": "..."}


def escaped(text):
    """Text that roff shows as it is."""
    text = re.sub(r"[\\'`~^…-]", lambda match: SPECIAL[match[0]], text)
    # Paths, URLs and names of variables are not hyphenated.
    text = re.sub(r"(?<!\S)(?=\S*[/$_])", r"\\%", text)
    return "\\&" + text if text.startswith(".") else text


def quoted(text):
    """One argument of a macro."""
    return '"\\&' + escaped(text).replace('"', '""') + '"'


def items(entries):
    yield ".Bl -tag -width 6n"
    for title, text in entries:
        yield f".It {title}"
        yield escaped(text)
    yield ".El"


def paragraphs(text):
    """Paragraphs as text, and indented lines as they are."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        lines = paragraph.split("\n")
        if number:
            yield ".Pp"
        if lines[0].startswith("  "):
            yield ".Bd -literal -offset indent -compact"
            yield from (escaped(line.removeprefix("  ")) for line in lines)
            yield ".Ed"
        else:
            yield escaped(" ".join(line.strip() for line in lines))


def option(argument):
    """The names of an argument as macros, and its description."""
    value = "" if argument["kind"] == "flag" else f" Ar {escaped(argument['valueName'])}"
    dots = " ..." if argument["isRepeating"] else ""
    text = argument.get("abstract", "")
    if values := argument.get("allValues"):
        text += f" Values: {', '.join(values)}."
    if default := argument.get("defaultValue"):
        text += f" Default: {default}."
    if argument["kind"] == "positional":
        return value.strip() + dots, value.strip() + dots, text
    names = [("" if name["kind"] == "short" else "\\-") + escaped(name["name"]) for name in argument["names"]]
    preferred = f"Fl \\-{escaped(argument['preferredName']['name'])}{value}{dots}"
    return preferred, " , ".join(f"Fl {name}" for name in sorted(names, key=len)) + value + dots, text


def flags(command):
    """The long flags of a command and of those below it."""
    own = {argument["preferredName"]["name"] for argument in command.get("arguments", []) if "preferredName" in argument}
    return own.union(*map(flags, command.get("subcommands", [])))


def statuses(discussion):
    """The exit statuses of all commands, which the help of the program lists."""
    listed = re.search(r"Exit status: ([^.]+)\.", discussion)[1]
    return [(number, f"{meaning[0].upper()}{meaning[1:]}.") for number, meaning in re.findall(r"(\d+) for ([^;]+)", listed)]


def page(command, path, inherited, exits):
    """Yields the lines of a command's page."""
    name, title = "-".join(path), " ".join(path)
    arguments = [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]
    commands = [child for child in command.get("subcommands", []) if child["commandName"] != "help"]
    description, _, examples = command.get("discussion", "").partition("Examples:\n")
    known = flags(command) | {None}
    used = [(name, text) for name, flag, text in ENVIRONMENT if flag in known]
    places = [(name, text) for name, flag, text in FILES if flag in known]
    date = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    yield from (f".Dd {time.strftime('%B', date)} {date.tm_mday}, {date.tm_year}", f".Dt {name.upper()} 1", ".Os", ".Sh NAME")
    yield from (f".Nm {name}", f".Nd {escaped(command['abstract'].rstrip('.'))}", ".Sh SYNOPSIS", f".Nm {quoted(title)}")
    for argument in arguments:
        synopsis = option(argument)[0]
        yield f".Op {synopsis}" if argument["isOptional"] else f".{synopsis}"
    if commands:
        yield ".Ar command ..."
    yield ".Sh DESCRIPTION"
    yield from paragraphs(description or command["abstract"])
    if commands:
        yield from (".Pp", "The commands are:")
        yield from items((quoted(child["commandName"]), child["abstract"]) for child in commands)
    yield from (".Pp", "The options are:")
    yield from items(option(argument)[1:] for argument in arguments)
    yield ".Sh ENVIRONMENT"
    yield from items((" , ".join(f"Ev {quoted(part)}" for part in name.split(", ")), text) for name, text in used)
    yield ".Sh FILES"
    yield from items((f"Pa {quoted(name)}", text) for name, text in places)
    yield ".Sh EXIT STATUS"
    yield from items(exits)
    yield ".Sh EXAMPLES"
    yield from paragraphs(examples.strip("\n") or "\n".join(line for line in inherited if f"{line} ".startswith(f"  {title} ")))
    yield from (".Sh BUGS", f"Report them at {quoted(REPOSITORY)} .", ".Sh SEE ALSO")
    related = [path[:-1]] * (len(path) > 1) + [[*path, child["commandName"]] for child in commands]
    yield from (f".Xr {'-'.join(other)} 1{' ,' if other != related[-1] else ''}" for other in related)


def write(command, path, directory, exits, inherited=()):
    lines = list(page(command, path, inherited, exits))
    (directory / f"{'-'.join(path)}.1").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for child in command.get("subcommands", []):
        if child["commandName"] != "help":
            write(child, [*path, child["commandName"]], directory, exits, command.get("discussion", "").split("\n"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, directory = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    help = subprocess.run([program, "--experimental-dump-help"], check=True, stdout=subprocess.PIPE).stdout
    command = json.loads(help)["command"]
    write(command, [command["commandName"]], directory, statuses(command["discussion"]))


main()
