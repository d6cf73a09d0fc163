"""The texts that readers see: Markdown, string literals of the sources, and the API's description."""

import json
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Text:
    """A piece of prose: a paragraph, a list item, a table cell or a literal."""

    path: str
    line: int
    words: str


# MARK: Markdown


FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*([-*+]|\d+\.)\s+")


def prose_lines(source, tables=False):
    """Yields (number, line) outside code blocks and comments; of generated tables only if `tables` is true."""
    fence, generated = False, False
    for number, line in enumerate(source.splitlines(), 1):
        if FENCE.match(line):
            fence = not fence
            yield number, ""
        elif fence:
            continue
        elif line.startswith("<!-- generated:"):
            generated = not tables
        elif line.startswith("<!-- end"):
            generated = False
        elif not generated:
            yield number, re.sub(r"<!--.*?-->", "", line)


def plain(markdown):
    """Replaces code spans by a placeholder word, and links by their text."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"(`+).+?\1", "CODE", markdown))
    return re.sub(r"\*\*|(?<!\w)[*_]|[*_](?!\w)", "", text).strip()


def markdown_texts(path, source):
    """Yields the paragraphs, headings, list items and table cells of a page."""
    paragraph, start = [], 0

    def flush():
        if paragraph:
            yield Text(path, start, plain(" ".join(paragraph)))
        paragraph.clear()

    # A table's header names columns.
    lines = list(prose_lines(source)) + [(0, "")]
    for (number, line), (_, following) in zip(lines, lines[1:] + [(0, "")]):
        item = ITEM.match(line)
        if not line.strip() or line.startswith(("#", "|")) or item:
            yield from flush()
        if line.startswith("|"):
            if not re.match(r"\|[\s:|-]+\|?$", line) and not re.match(r"\|[\s:|-]+\|?$", following):
                for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                    yield Text(path, number, plain(cell))
        elif line.startswith("#"):
            yield Text(path, number, plain(line.lstrip("# ")))
        elif line.strip():
            if not paragraph:
                start = number
            paragraph.append(line[item.end() :] if item else line.strip())


# MARK: The API's description


def description_texts(path, source):
    """Yields every description, summary, meaning and action of openapi.json."""
    lines = source.splitlines()

    def walk(value):
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in ("description", "summary", "meaning", "action") and isinstance(inner, str):
                    yield inner
                else:
                    yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)

    # Values come in the order of the document.
    number = 0
    for value in walk(json.loads(source)):
        written = json.dumps(value, ensure_ascii=False)
        while number < len(lines) and written not in lines[number]:
            number += 1
        for paragraph in value.split("\n\n"):
            yield Text(path, number + 1, plain(" ".join(paragraph.split())))


# MARK: String literals of Swift


def swift_literals(source):
    """Yields (line, text) of the string literals of a Swift file. An interpolation becomes the word `CODE`."""
    position, line = 0, 1
    token = re.compile(r'//[^\n]*|/\*|(#*)"""|(#*)"|\n')
    while match := token.search(source, position):
        line += source.count("\n", position, match.start())
        position = match.end()
        found = match[0]
        if found == "\n":
            line += 1
        elif found == "/*":
            end = source.find("*/", position)
            line += source.count("\n", position, end)
            position = end + 2
        elif not found.startswith("//"):
            hashes = match[1] if match[1] is not None else match[2]
            text, end = literal(source, position, '"""' if '"""' in found else '"', hashes or "")
            yield line, text
            line += source.count("\n", position, end)
            position = end


def literal(source, position, quote, hashes):
    """Reads a literal from behind its opening quote; returns its text and the position behind it."""
    text, end, escape = [], quote + hashes, "\\" + hashes
    while position < len(source) and not source.startswith(end, position):
        if source.startswith(escape + "(", position):
            position = behind_parenthesis(source, position + len(escape) + 1)
            text.append("CODE")
        elif source.startswith(escape, position):
            position += len(escape)
            text.append({"n": "\n", "\n": "", "t": "\t"}.get(source[position], source[position]))
            position += 1
        else:
            text.append(source[position])
            position += 1
    text = "".join(text)
    if quote == '"""':
        # The last line's indentation belongs to the source.
        margin = text.rpartition("\n")[2]
        text = "\n".join(part.removeprefix(margin) for part in text.split("\n")[1:-1])
    return text, position + len(end)


def behind_parenthesis(source, position):
    """Returns the position behind the parenthesis that closes an interpolation."""
    depth = 1
    while depth and position < len(source):
        if source[position] == '"':
            position = literal(source, position + 1, '"', "")[1]
            continue
        depth += {"(": 1, ")": -1}.get(source[position], 0)
        position += 1
    return position


# What isn't prose: queries, markup, names and formats.
NO_PROSE = re.compile(
    r"^\s*--|^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|FROM|WHERE|AND|OR|ORDER|GROUP|JOIN|LEFT|SET|VALUES|ON|PRAGMA"
    r"|BEGIN|COMMIT|RETURNING|LIMIT|NOTIFY|LISTEN|LOCK|COPY)\b|[{};]\s*$|^\s*[<{]|^\S*$|=\s*CODE|\bEXISTS \("
)


def swift_texts(path, source):
    """Yields the literals of a Swift file that read as prose, one text for each paragraph."""
    for line, value in swift_literals(source):
        # An indented line is an example.
        for paragraph in re.split(r"\n\s*\n|\n(?=\s{2})|(?<=[.:])\n", value):
            lines = paragraph.split("\n")
            if lines[0].startswith("  ") or NO_PROSE.search(paragraph):
                continue
            yield Text(path, line, plain(" ".join(paragraph.split())))


def texts(path, root):
    """Yields the texts of one file, by its kind."""
    source = (root / path).read_text(encoding="utf-8")
    reader = {".md": markdown_texts, ".json": description_texts, ".swift": swift_texts}[Path(path).suffix]
    yield from reader(path, source)
