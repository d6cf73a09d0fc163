"""Tests of the checker: a bad sample of each rule is found, and a good one passes.

    python3 -B -m unittest discover -s Tests/Prose -p tests.py
"""

import tempfile
import unittest
from pathlib import Path

import check
import links
import rules
import texts


class SentenceTests(unittest.TestCase):
    BAD = [
        "Of a JSON body.", "Of each tenant.", "Not again.", "What a claim found.", "What it writes is not.",
        "Whether it is there.", "For whoever waits.", "Those that came to an end.", "As for payloads.", "Who acted.",
        "Where the process stands.", "The ones with a key.",
    ]  # fmt: skip
    GOOD = [
        "Maximum size of a JSON body.", "Not found. Check the ID.", "What now?", "What it means", "Of course it does.",
        "As root, you can run the commands that only use the records.", "Those files are kept.",
        "Where available, packets are copied.", "A job cannot be retried.", "Note the ID.", "One of them fails.",
        "Whatsoever follows is kept.",
    ]  # fmt: skip

    def test_fragments(self):
        for text in self.BAD:
            self.assertTrue(any(map(rules.is_fragment, rules.sentences(text))), text)
        for text in self.GOOD:
            self.assertFalse(any(map(rules.is_fragment, rules.sentences(text))), text)

    def test_long_sentences(self):
        self.assertTrue(rules.is_long("The " + "word " * 29 + "ends."))
        self.assertFalse(rules.is_long("The " + "word " * 28 + "ends."))
        # Dashes and signs are no words.
        self.assertEqual(rules.count("one – two | three-four 2 %"), 4)

    def test_splitting(self):
        text = "It has 1.5 MB, e.g. photos, etc. on version 0.1.0. best decodes it all. Is it? (Yes.) `x` ends."
        self.assertEqual(
            rules.sentences(text),
            ["It has 1.5 MB, e.g. photos, etc. on version 0.1.0.", "best decodes it all.", "Is it?", "(Yes.", "`x` ends."],
        )

    def test_pronouns(self):
        for word in ("who", "Whoever", "whose", "whom", "somebody", "nobody", "Anybody"):
            self.assertTrue(rules.names_no_one(f"Then {word} waits."), word)
        self.assertFalse(rules.names_no_one("The whole world waits for a person."))


class TextTests(unittest.TestCase):
    def test_markdown(self):
        source = """\
# A *title*

A paragraph of
two lines with `code` and [a link](x.md).
- An item,
  continued.
1. Another.

| Field | Whether |
| --- | --- |
| `a` | a cell \\| with a bar |

```sh
Of a block.
```
<!-- generated: table -->
| Of a table. |
<!-- end -->
The end.
"""
        self.assertEqual(
            [(text.line, text.words) for text in texts.markdown_texts("page.md", source)],
            [
                (1, "A title"), (3, "A paragraph of two lines with CODE and a link."), (5, "An item, continued."),
                (7, "Another."), (11, "CODE"), (11, "a cell \\| with a bar"), (19, "The end."),
            ],  # fmt: skip
        )

    def test_swift(self):
        source = '''\
// Of a comment.
/* "Of a comment." */
let a = "A message with \\(names.joined(separator: ", ")) and \\"quotes\\"."
let b = #"A raw \\(text)."#
let c = """
    A paragraph that \\
    goes on.

      satchel an example

    Another (one).
    """
let sql = "SELECT id FROM jobs WHERE state = 1"
let name = "identifier"
let d = "Of the last."
'''
        self.assertEqual(
            [(text.line, text.words) for text in texts.swift_texts("a.swift", source)],
            [
                (3, 'A message with CODE and "quotes".'), (4, "A raw \\(text)."), (5, "A paragraph that goes on."),
                (5, "Another (one)."), (15, "Of the last."),
            ],  # fmt: skip
        )

    def test_description(self):
        source = '{\n  "paths": {"/a": {"get": {\n    "summary": "Get a job",\n    "x": 1,\n    "description": "Of a job."\n  }}}\n}\n'
        self.assertEqual(
            [(text.line, text.words) for text in texts.description_texts("openapi.json", source)],
            [(3, "Get a job"), (5, "Of a job.")],
        )


class CheckTests(unittest.TestCase):
    """The whole check, of a tree with one fault each."""

    PAGES = {
        "README.md": "# Title\n\nSee [a page](docs/page.md#two-words-2).\n",
        "docs/page.md": "# Page\n\n## Two words\n\n## Two `words`\n\n## Two words 2\n\nBack to [it](../README.md).\n",
        "Sources/Service/satchel/A.swift": 'let a = "The file is damaged."\n',
        "Sources/Service/API/Description/openapi.json": '{"description": "A job."}\n',
    }

    def complaints(self, allowed="", **changed):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            pages = self.PAGES | {name.replace("__", "/").replace("_md", ".md"): text for name, text in changed.items()}
            for path, text in pages.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            (root / "allowed.txt").write_text(allowed, encoding="utf-8")
            exceptions = check.Exceptions(root / "allowed.txt")
            found = list(check.check(sorted(pages), root, exceptions))
            return found + [f"unused: {number}" for number in exceptions.unused()]

    def assert_found(self, part, **changed):
        found = self.complaints(**changed)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_a_sound_tree_passes(self):
        self.assertEqual(self.complaints(), [])

    def test_links(self):
        for target, part in {
            "docs/none.md": "file that does not exist",
            "docs/page.md#none": "heading that does not exist",
            "#none": "heading that does not exist",
            "https://tracker.example.net/page": "site that is not in SITES",
        }.items():
            with self.subTest(target):
                self.assert_found(part, README_md=f"# Title\n\nSee [a page]({target}).\n")
        self.assert_found("file that does not exist", README_md="# Title\n\nSee [a\npage](none.md).\n")
        self.assert_found("site that is not in SITES", README_md="# Title\n\nSee https://tracker.example.net.\n")
        self.assert_found(
            "repository's address", README_md="# Title\n\n```sh\ngit clone https://github.com/OWNER/satchel2\n```\n")
        good = ["docs/page.md#page", "#title", "https://semver.org", "https://github.com/OWNER/satchel/issues", "docs"]
        for target in good:
            self.assertEqual(self.complaints(README_md=f"# Title\n\nSee [a page]({target}).\n"), [], target)

    def test_anchors(self):
        self.assertEqual(
            links.anchors("# A `B_c` & D!\n## x\n## x\n```sh\n# no\n```\n<!-- generated: y -->\n### Y\n<!-- end -->\n"),
            {"a-b_c--d", "x", "x-1", "y"},
        )

    def test_lengths(self):
        generated = "<!-- generated: x -->\n" + "row\n" * 300 + "<!-- end -->\n"
        for path, limit in {
            "README.md": 200, "CONTRIBUTING.md": 150, "Benchmarks/README.md": 250, "docs/a/b.md": 250, "docs/c.md": 250
        }.items():  # fmt: skip
            name = path.replace("/", "__").replace(".md", "_md")
            self.assert_found(f"{limit + 1} lines", **{name: "\n" * (limit + 1)})
            self.assertEqual(self.complaints(**{name: "\n" * limit}), [], path)
        self.assertEqual(self.complaints(docs__c_md=generated + "\n" * 200), [])
        entries = "# Changes\n\n## Unreleased\n\n{}\n## 0.1.0\n\n" + "- An entry.\n" * 100
        self.assert_found("61 lines are unreleased", CHANGELOG_md=entries.format("- An entry.\n" * 61))
        self.assertEqual(self.complaints(CHANGELOG_md=entries.format("- An entry.\n" * 60)), [])

    def test_contacts(self):
        self.assertEqual(list(links.contacts(links.ROOT)), [])
        with tempfile.TemporaryDirectory() as directory:
            for path in links.NAMING:
                (Path(directory) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(directory) / path).write_text("Write to security@example.org.\n", encoding="utf-8")
            self.assertEqual(len(list(links.contacts(Path(directory)))), 2 * len(links.NAMING))

    def test_sentences_of_each_kind(self):
        self.assert_found("README.md:3: no subject or verb: Of a job.", README_md="# Title\n\nIt works. Of a job.\n")
        long = " ".join(["word"] * 31)
        self.assert_found(f"README.md:3: 31 words: {long}.", README_md=f"# Title\n\n{long}.\n")
        path = "Sources/Service/API/Description/openapi.json"
        self.assert_found(f"{path}:1: no subject", **{path: '{"description": "Of a job."}'})
        path = "Sources/Service/satchel/A.swift"
        self.assert_found(f"{path}:1: no subject", **{path: 'let a = "Of a job."'})

    def test_pronouns_are_counted_by_kind(self):
        sentence = "The person who waits gets a file. "
        page = "# Title\n\n" + sentence + "A file is here. " * 498
        self.assertEqual(self.complaints(README_md=page), [])
        found = self.complaints(README_md=page + sentence)
        self.assertEqual(len(found), 3, found)
        self.assertIn("Markdown: 0.", found[-1])

    def test_exceptions(self):
        page = "# Title\n\nOf a job.\n"
        self.assertEqual(self.complaints("README.md | Of a | a quotation\n", README_md=page), [])
        self.assertEqual(self.complaints("# None\nREADME.md | Of a | a quotation\n"), ["unused: 2"])
        with self.assertRaises(SystemExit):
            self.complaints("README.md | Of a |\n")


if __name__ == "__main__":
    unittest.main()
