"""Links, anchors and lengths of Markdown pages."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from texts import prose_lines

# Public sites that pages may link to. Others tend to move.
SITES = {
    "semver.org", "tus.io", "www.rfc-editor.org", "www.standardwebhooks.com", "developer.apple.com", "www.swift.org",
    "keepachangelog.com", "www.debian.org", "www.sqlite.org", "www.postgresql.org", "spec.matrix.org", "signal.org",
    "xmpp.org", "www.apache.org",
}  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = (ROOT / "Packaging/repository").read_text(encoding="utf-8").strip()
# Files that must name it. Packaging/repository.sh writes it there.
NAMING = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Packaging/debian/control", "Packaging/debian/changelog",
          "Packaging/debian/copyright", "Docker/Dockerfile"]  # fmt: skip

# Lines that a page may have, without those of generated tables; `docs/` stands for every page below it.
LENGTHS = {"README.md": 200, "CONTRIBUTING.md": 150, "Benchmarks/README.md": 250, "docs/": 250}
UNRELEASED = 60


def anchors(source):
    """The anchors that GitHub makes of a page's headings."""
    found = []
    for _, line in prose_lines(source, tables=True):
        if heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", text).lower()).replace(" ", "-")
            repeated = found.count(slug)
            found.append(f"{slug}-{repeated}" if repeated else slug)
    return set(found)


def targets(source):
    """Yields (line, target) of every link and image."""
    for number, line in prose_lines(source):
        line = re.sub(r"(`+).+?\1", "", line)
        for match in re.finditer(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(https?:[^>]+)>|(?<![(<\w])(https?://[^\s|)>]+)", line):
            yield number, match[1] or match[2] or match[3]


def broken(path, source, root):
    """Yields (line, complaint) of every link that leads nowhere."""
    # A link may span two lines.
    for number, target in targets(re.sub(r"(\[[^\]\n]*)\n\s*([^\]\n]*\]\()", r"\1 \2", source)):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            if not allowed(target):
                yield number, f"link to a site that is not in SITES of Tests/Prose/links.py: {target}"
            continue
        file, _, anchor = target.partition("#")
        page = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not (root / page).exists():
            yield number, f"link to a file that does not exist: {target}"
        elif anchor and page.endswith(".md") and anchor not in anchors((root / page).read_text(encoding="utf-8")):
            yield number, f"link to a heading that does not exist: {target}"


def allowed(target):
    parts = urlsplit(target)
    if parts.scheme == "mailto" or target == REPOSITORY or target.startswith(REPOSITORY + "/"):
        return True
    return parts.hostname in SITES or (parts.hostname or "").endswith("example.com")


def foreign_repositories(source):
    """Yields (line, address) of every repository on GitHub but this one's constant address, in code too."""
    for number, line in enumerate(source.splitlines(), 1):
        for match in re.finditer(r"https?://github\.com[^\s`\"')>]*", line):
            if not re.match(re.escape(REPOSITORY) + r"(?![\w-])", match[0]):
                yield number, match[0]


def contacts(root):
    """Yields a complaint for every file that must name the repository and doesn't, or that has a mail address."""
    for path in NAMING:
        source = (root / path).read_text(encoding="utf-8")
        if REPOSITORY not in source:
            yield f"{path}:1: {REPOSITORY} is missing. Run Packaging/repository.sh."
        for number, line in enumerate(source.splitlines(), 1):
            if match := re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", line):
                yield f"{path}:{number}: mail address {match[0]}; name the repository instead"


def own_lines(source):
    """Counts the lines of a page without those of generated tables."""
    count, generated = 0, False
    for line in source.splitlines():
        generated = generated and not line.startswith("<!-- end")
        count += not generated
        generated = generated or line.startswith("<!-- generated:")
    return count


def too_long(path, source):
    """Yields a complaint if the page has too many lines."""
    limit = LENGTHS.get(path) or (LENGTHS["docs/"] if path.startswith("docs/") else None)
    if limit and own_lines(source) > limit:
        yield f"{own_lines(source)} lines; the limit is {limit}. Move details to a page of their own."
    if path == "CHANGELOG.md":
        unreleased = re.search(r"^## .*Unreleased.*\n((?:(?!## ).*\n?)*)", source, re.MULTILINE | re.IGNORECASE)
        lines = len(unreleased[1].strip().splitlines()) if unreleased else 0
        if lines > UNRELEASED:
            yield f"{lines} lines are unreleased; the limit is {UNRELEASED}. Join entries as a user would read them."
