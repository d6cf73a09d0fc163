#!/usr/bin/env -S python3 -B
"""Checks the texts that readers see: sentences, links and lengths.

    Tests/Prose/check.py [FILE ...]

Reads Markdown, the API's description and the string literals of the sources; without FILE, all of them. A complaint names the
file, the line and the sentence, and ends the check with status 1. `allowed.txt` lists exceptions with their reasons.

The rules are a floor. A text that passes can still be hard to read.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import links
import rules
import texts

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

# Kinds of texts, each with where it is. The first that fits counts.
KINDS = [
    ("Markdown", lambda path: path.endswith(".md")),
    ("the API's description", lambda path: path == "Sources/Service/API/Description/openapi.json"),
    ("the command line and settings", lambda path: path.startswith("Sources/Service/satchel/") and path.endswith(".swift")),
    ("other messages", lambda path: path.startswith("Sources/") and path.endswith(".swift")),
]


def kind(path):
    return next((name for name, holds in KINDS if holds(path)), None)


class Exceptions:
    """The lines of allowed.txt: a file, the beginning of a sentence and a reason, separated by ` | `."""

    def __init__(self, path):
        self.entries = []
        self.used = set()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) != 3 or not all(parts):
                raise SystemExit(f"{path}:{number}: an exception is 'file | beginning of the sentence | reason'")
            self.entries.append((number, parts[0], parts[1]))

    def permits(self, path, sentence):
        for number, file, beginning in self.entries:
            if (path == file or (file.endswith("/") and path.startswith(file))) and sentence.startswith(beginning):
                self.used.add(number)
                return True
        return False

    def unused(self):
        return [number for number, _, _ in self.entries if number not in self.used]


def check(paths, root, exceptions):
    """Yields every complaint about the files."""
    words, unnamed = defaultdict(int), defaultdict(list)
    for path in paths:
        source = (root / path).read_text(encoding="utf-8")
        if path.endswith(".md"):
            if ".docc/" not in path:
                yield from (f"{path}:{line}: {complaint}" for line, complaint in links.broken(path, source, root))
            for line, address in links.foreign_repositories(source):
                yield f"{path}:{line}: the repository's address is {links.REPOSITORY}, not {address}"
            yield from (f"{path}: {complaint}" for complaint in links.too_long(path, source))
        for text in texts.texts(path, root):
            words[kind(path)] += rules.count(text.words)
            for sentence in rules.sentences(text.words):
                if exceptions.permits(path, sentence):
                    continue
                place = f"{text.path}:{text.line}"
                if rules.is_long(sentence):
                    yield f"{place}: {rules.count(sentence)} words: {sentence}"
                if rules.is_fragment(sentence):
                    yield f"{place}: no subject or verb: {sentence}"
                if rules.names_no_one(sentence):
                    unnamed[kind(path)].append(f"{place}: name the person or thing: {sentence}")
    for name, found in unnamed.items():
        if len(found) * 1000 >= rules.MAXIMUM_WHO * words[name]:
            yield from found
            rate = len(found) * 1000 / words[name]
            yield f"{name}: {rate:.2f} of 1,000 words are 'who' and the like; the limit is {rules.MAXIMUM_WHO}"


def all_files(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True,
        text=True,
    ).stdout.splitlines()  # fmt: skip
    return [path for path in listed if kind(path) and (root / path).is_file()]


def main(arguments):
    exceptions = Exceptions(HERE / "allowed.txt")
    paths = [str(Path(path).resolve().relative_to(ROOT.resolve())) for path in arguments] or all_files(ROOT)
    complaints = list(check(paths, ROOT, exceptions))
    if not arguments:
        complaints += [f"Tests/Prose/allowed.txt:{number}: nothing needs this exception" for number in exceptions.unused()]
    for complaint in complaints:
        print(complaint)
    if complaints:
        print(f"{len(complaints)} complaints. See Tests/Prose/check.py.", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
