"""Make random patterns and operations for fuzzing `spectralnlp search` and `rewrite`."""

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
_KEYS = (
    "label",
    "category",
    "function",
    "head",
    "tag",
    "words",
    "length",
    "file",
    "a.head",
    "x.tag",
    ".",
    LONG,
)
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
            ["--macros", "HERE/macros"],
            ["--group-by", random.choice(_KEYS), *random.choice(([], ["--group-by", random.choice(_KEYS)]))],
            ["--group-by", "label", "--per", _pattern(random, 3), "--also", _pattern(random, 3)],
            ["--head-rules", random.choice(("english", "neutral", "../../etc/passwd", "", LONG))],
        )
    )
    macros = mutated_text(random, "VERB\t/^VB/\nSUBJECT\tNP > S\n")
    return ["search", *more, "--", pattern, "HERE/trees.mrg"], {
        "macros": macros.encode("utf-8", "surrogateescape")
    }


_OPERATIONS = (
    *("relabel a NP-X", "relabel a /^N(.)/X$1/", "relabel b |NP|", "delete a", "prune a b", "excise a b"),
    *("excise a a", "insert (NP (NN x)) >1 a", "insert b $- a", "move a >-1 b", "moveprune b $+ a"),
    *("replace a b", "replace a (X x) (Y y)", "createSubtree X a b", "createSubtree (Y (Z z) X@) a b"),
    *("adjoin (X (Y y) Z@) a", "adjoinH (X@) b", "adjoinF (X (Y y) Z@) a", "coindex a b", "coindex c"),
    *("if exists b delete b", "[delete a] [delete b]", "relabel a /(a+)+$/b/", "relabel a ={b}%{1}", ""),
)


def draw_rewrite(random: Random) -> Case:
    """Return a rewriting of trees by one to three operations, of which about half are valid."""
    head, other = random.choice(_LABELS), random.choice(_LABELS)
    relation = random.choice(_RELATIONS[:12])
    pattern = random.choice((f"{head}=a", f"{head}=a {relation} {other}=b", _pattern(random, 2)))
    operations = [random.choice(_OPERATIONS) for _ in range(random.choice((1, 1, 2, 3)))]
    if random.random() < 0.3:
        operations[0] = mutated_text(random, operations[0], longest=2000)
    done = [each for operation in operations for each in ("--do", operation)]
    more = random.choice(([], ["--dry-run"], ["-o", "HERE/out.mrg"], ["-o", "HERE/trees.mrg"]))
    return ["rewrite", *done, *more, "--", pattern, "HERE/trees.mrg"], {}
