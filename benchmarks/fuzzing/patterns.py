"""Make random patterns for fuzzing `spectralnlp search`, with odd numbers and regular expressions."""

from __future__ import annotations

from random import Random

from benchmarks.fuzzing.commands import LONG, Case, mutated_text

LETTERS = "a" * 41  # a label and a word on which some regular expressions take for ever

_NODES = 'NP VP S NN VBD __ __ @NP !NP NP|VP i@np "NP" 漢字 DT|NN !S|VP'
_REGULAR = r"""^N . ^(N|V)P$ NP|VP ^[^A-M]+$ N/i (a+)+$ (a|aa)+$ (.*a){25}$ ((a*)*)*b (?:a?){40}a{40} x*+ \/
 \\ \1 a{1,65535}{1,65535} a{99999999999} [^] [z-a] (?P<n>a)(?P=n) (?(1)a|b) \N{BULLET} \U00110000
 (?<=a*)b (?i-s:x) (?a)(?u)x (?=a) (?!a)"""
_LABELS = _NODES.split()
_EXPRESSIONS = (*_REGULAR.split(), "(" * 300, "(" * 90 + ")" * 90, "(a)" * 150, "[" * 50, ".*" * 200, "")
_RELATIONS = (
    *("<", ">", "<<", ">>", "<,", "<-", "<:", "<<:", ">:", "$", "$+", "$-", "$++", "$--", "$..", ".", ","),
    *("..", ",,", "<#", ">#", "<<#", ">>#", "<=", "==", "<...", "<+(VP)", ".+(NP)", "<<,", ">>-", ":", "<<<"),
)
_NUMBERS = ("0", "1", "2", "1", "2", "3", "-0", "9" * 9, "9" * 10, "9" * 24, LONG, f"-{LONG}", "٣", "1.5", "")
_JOINTS = ("", "", "", "&", "|", "!", "?", ": NP", "[", ")")


def _pattern(random: Random, depth: int = 0) -> str:
    label = f"/{random.choice(_EXPRESSIONS)}/" if random.random() < 0.2 else random.choice(_LABELS)
    if random.random() < 0.05:
        label = random.choice(("=x", "~x", "*", f"/(N)/#{LONG}%a", "/^(N)(P)$/#1%a", "NP=x"))
    if depth > random.choice((0, 1, 2, 4, 60)):
        return label
    inner = _pattern(random, depth + 1)
    inner = f"({inner})" if random.random() < 0.5 else inner
    relation = random.choice(_RELATIONS)
    if random.random() < 0.2:
        relation = random.choice(("<", ">", "<-", ">-", "<<<", "<<<-")) + random.choice(_NUMBERS)
    text = f"{label} {random.choice(('', '', '!', '?'))}{relation} {inner}"
    if random.random() < 0.3:
        text += f" {random.choice(_JOINTS)} {random.choice(_RELATIONS)} ({_pattern(random, depth + 2)})"
    return text


def draw_search(random: Random) -> Case:
    """Return a search for a pattern, of which about a third are valid."""
    pattern = _pattern(random)
    if random.random() < 0.25:
        pattern = mutated_text(random, pattern)
    if random.random() < 0.05:
        pattern = random.choice(
            ("(" * 5000, "[" * 5000, "NP < " * 3000 + "NP", "NP|" * 5000, "__ << " * 40 + "__")
        )
    more = random.choice(
        (
            *([], [], ["--count"], ["--once"], ["--clean"]),
            ["--format", random.choice(("text", "brackets", "html", "table", "tsv", "csv", "json", LONG))],
            ["--context", random.choice(_NUMBERS)],
            ["--head-rules", random.choice(("english", "neutral", "../../etc/passwd", "", LONG))],
        )
    )
    return ["search", *more, "--", pattern, "HERE/trees.mrg"], {}
