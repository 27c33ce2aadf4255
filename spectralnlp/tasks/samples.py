"""Made-up training data for each task, just enough to compile every numba function by running it."""

from __future__ import annotations

from itertools import product

from spectralnlp.trees import read_brackets

_SUBJECTS = (
    "(NP (DT the) (NN keeper))",
    "(NP (PRP she))",
    "(NP (NNP Marta))",
    "(NP (DT an) (JJ old) (NN ship))",
    "(NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS nets))))",
    "(NP (PRP they))",
)
_VERBS = ("(VBD saw)", "(VBZ watches)", "(VBP like)", "(VBD painted)", "(VBD met)")
_OBJECTS = (
    "(NP (DT the) (NN harbour))",
    "(NP (JJ small) (NNS boats))",
    "(NP (NP (CD 3) (NNS lamps)) (PP (IN of) (NP (NN iron))))",
    "(NP (PRP it))",
)
_REST = (
    "",
    " (PP (IN in) (NP (NNP June)))",
    " (ADVP (RB again))",
    " (SBAR (IN when) (S (NP (PRP he)) (VP (VBD slept))))",
    " (PP (IN by) (NP (DT the) (NN sea)))",
)

_ENDS = ("ey", "ster", "ona", "vik", "holm", "und", "dera", "isk", "ava")
# So many words that no word occurs in most lines.
_ISLANDS = tuple(first + last for first in ("san", "tor", "hel", "fal", "nor", "mar") for last in _ENDS)


def sample_trees() -> str:
    """Return made-up bracketed trees, one per line."""
    return "".join(
        f"(TOP (S {subject} (VP {verb} {thing}{rest}) (. .)))\n"
        for subject, verb, thing, rest in product(_SUBJECTS, _VERBS, _OBJECTS, _REST)
    )


def sample_text() -> str:
    """Return made-up tokenised lines: the sentences of the sample trees, then lines of made-up words."""
    lines = [tree.words() for tree in read_brackets(sample_trees().splitlines())]
    lines += [[_ISLANDS[(n + k) * k % len(_ISLANDS)] for k in range(1, 6)] for n in range(200)]
    return "".join(f"{' '.join(words)}\n" for words in lines)


def sample_labels() -> str:
    """Return made-up labelled texts, lines ``label TAB text`` with two different labels."""
    lines = sample_text().splitlines()
    return "".join(f"{'even' if n % 2 else 'odd'}\t{line}\n" for n, line in enumerate(lines))
