"""A line on a terminal that says what is being measured."""

import sys


def end():
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def say(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text} …", end="", file=sys.stderr, flush=True)


def note(text):
    """Something that explains a figure."""
    end()
    print(text, file=sys.stderr)
