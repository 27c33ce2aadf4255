"""Read constraints for ``parse`` from a file with one line of JSON per sentence, lazily."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from spectralnlp.errors import InputError, SpectralError

if TYPE_CHECKING:
    from spectralnlp.text.constraints import Constraints
    from spectralnlp.text.tokens import Sentence
    from spectralnlp.trees.parse import Parse

_EXAMPLE = 'a line is {"brackets": [[0, 3, "NP"]], "forbidden": [[2, 5]], "tags": {"4": "NN"}}, or empty'


def read_constraints(file: str) -> Iterator[Constraints | None]:
    """Yield the constraints of each sentence; None for an empty line.

    Args:
        file: path of a file of JSON lines, which may be compressed (.gz).

    Raises:
        InputError: a line is not valid constraints; the error names file and line.
    """
    from spectralnlp.runtime import open_text
    from spectralnlp.text.constraints import ConstraintError, Constraints

    with open_text(file) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                yield None
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError("no JSON", path=file, line=number, hint=_EXAMPLE) from error
            try:
                yield Constraints.from_json(value)
            except ConstraintError as error:
                raise _placed(error, file, number) from error


def constrained(sentences: Iterable[Sentence | None], file: str) -> Iterator[Sentence | None]:
    """Yield each sentence with the constraints from its line of a file.

    Raises:
        InputError: a line is invalid (`read_constraints`), or the lines do not match the sentences.
    """
    given = read_constraints(file)
    n_sentences = 0
    for n_sentences, sentence in enumerate(sentences, 1):
        try:
            constraints = next(given)
        except StopIteration:
            what = f"no line for sentence {n_sentences}"
            raise InputError(what, path=file, hint="give a line for each, empty for no constraints") from None
        if sentence is None and constraints:
            raise InputError("constraints for an empty line of the text", path=file, line=n_sentences)
        yield sentence if sentence is None else replace(sentence, constraints=constraints)
    for number, constraints in enumerate(given, n_sentences + 1):
        if constraints:
            raise InputError("constraints without a sentence", path=file, line=number)


def with_lines(parses: Iterator[Parse | None], file: str) -> Iterator[Parse | None]:
    """Yield parses unchanged, but add the file and the line to errors about constraints.

    Args:
        parses: parses of the sentences, one for each line of the file.
        file: path of the file of constraints.
    """
    from spectralnlp.text.constraints import ConstraintError

    for number in count(1):
        try:
            parse = next(parses)
        except StopIteration:
            return
        except ConstraintError as error:
            raise error if error.path else _placed(error, file, number) from error
        yield parse


def _placed(error: SpectralError, file: str, line: int) -> InputError:
    return InputError(error.what, path=file, line=line, hint=error.hint)
