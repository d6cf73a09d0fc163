"""The rules for sentences. Each takes a sentence and says whether it breaks the rule."""

import re

MAXIMUM_WORDS = 30
# Of 1,000 words of a kind of text.
MAXIMUM_WHO = 0.5

WHO = re.compile(r"\b(who|whoever|whom|whose|somebody|nobody|anybody)\b", re.IGNORECASE)

# Beginnings of sentences that lack a subject or a verb.
FRAGMENT = re.compile(
    r"""
    Of\s(?!course\b)                                       # Of a JSON body.
    | Not\s(again|yet|here|there|now|before|after|until|by|with|for|in|on|at|as|to|of|where|when|while|if|what|who)\b
    | (What|Whether|Who|Whose|Whom|Whoever|Whatever)\b     # What a claim found.
    | For\s(whoever|whom|what|who)\b                       # For whoever waits.
    | (Those|The\sones?|Ones?)\s(that|which|who|with|without)\b[^,;:]*\.$  # Those that came to an end.
    | (As|Where|While|Until)\s[^,;:]*\.$                   # As for payloads.
    """,
    re.VERBOSE,
)


def sentences(text):
    """Splits a text into sentences."""
    parts = re.split(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)[)\"'”]*\s+", text)
    return [part.strip() for part in parts if part.strip()]


def count(text):
    """Counts words: runs of characters of which one at least is a letter or a digit."""
    return sum(any(character.isalnum() for character in word) for word in text.split())


def is_long(sentence):
    return count(sentence) > MAXIMUM_WORDS


def is_fragment(sentence):
    # A question may begin with 'what'; what has no full stop may be a label.
    return sentence.endswith(".") and FRAGMENT.match(sentence) is not None


def names_no_one(sentence):
    return WHO.search(sentence) is not None
