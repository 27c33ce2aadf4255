"""``spectralnlp adapt``: adapt a general parser to another domain with a few trees of that domain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import note, say
from spectralnlp.cli.options import HERE, NewFolder, Overwrite, TreeReader, Work, command_options
from spectralnlp.errors import ConfigError, InputError

if TYPE_CHECKING:
    from spectralnlp.estimator import Estimator
    from spectralnlp.models.parser import Parser
    from spectralnlp.runtime import Corpus, Moments
    from spectralnlp.text.tokens import Sentence
    from spectralnlp.trees import Tree


@command_options("encoding skip_bad engine scheduler jobs")
def adapt(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The general parser.")],
    trees: Annotated[
        list[str], typer.Argument(metavar="TREES...", help="Trees of the domain: files, folders or globs.")
    ],
    output: NewFolder,
    general: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="TREEBANK",
            help="What MODEL was trained on, to train anew; repeatable.",
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="How often each tree of the domain counts; default: √(general / domain)."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="With --with: a setting in place of MODEL's."),
    ] = None,
    partial: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Partial trees, a JSON object a line: {"tokens": [...], "brackets": [[0, 3, "NP"]], '
            '"forbidden": [[2, 5]], "tags": {"4": "NN"}}.',
        ),
    ] = None,
    unlabelled: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Raw text of the domain to learn from as well; repeatable."),
    ] = None,
    dev: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Trees to score at the end; repeatable.")
    ] = None,
    overwrite: Overwrite = False,
    reader: TreeReader = "auto",
    work: Work = HERE,
) -> None:
    """Adapt a parser to another domain, given a few trees of that domain."""
    from spectralnlp import changes
    from spectralnlp.cli.models import load_parser
    from spectralnlp.runtime import rereadable
    from spectralnlp.storage import check_writable
    from spectralnlp.tasks.parsing import ParsingTask

    check_writable(output, overwrite=overwrite)
    started = perf_counter()
    task = ParsingTask()
    reading = work.reading(task)
    with work.running("adapting"):
        corpora = [
            task.read(rereadable(files), reader=reader, **reading) if files else None
            for files in (trees, dev, general)
        ]
        if work.skipped is not None:
            work.skipped.find(*(each for each in corpora if each is not None))
        domain, held_out, treebank = corpora
        assert domain is not None
        more: dict[str, Any] = {
            "partial": None if partial is None else list(_partial_trees(partial)),
            "unlabelled": _sentences(model, unlabelled) if unlabelled else None,
        }
        learned = _learned_from(model, treebank, settings)
        if learned is None:
            adapted = _from_grammars(model, domain, weight, **more)
        else:
            adapted = changes.adapt(*learned, domain, weight=weight, report=say, **more)
        adapted.save(output, overwrite=overwrite)
        for each in corpora:
            for line in [] if each is None else each.remarks():
                note(line)
        for line in task.remarks_on_gold(load_parser(model), domain):
            note(line)
    say(f"{output}: adapted in {perf_counter() - started:.1f} s")
    if held_out is not None:
        print(f"\n{work.evaluated(task, adapted, held_out).to_table()}")


def _learned_from(
    model: str, treebank: Any, settings: list[str] | None
) -> tuple[Estimator[Any], Moments[Any]] | None:
    """Return an unfitted estimator with a model's settings, and the moments of the model's treebank.

    Args:
        model: name or folder of the model.
        treebank: the treebank of the model; None to read the moments that were kept with the model.
        settings: values of ``--set``; only allowed with a treebank.

    Returns:
        Estimator and moments; None if there is no treebank and no moments were kept.
    """
    from spectralnlp import changes
    from spectralnlp.cli.changing import load_kept
    from spectralnlp.cli.train import parse_settings
    from spectralnlp.models import folder_of, moments_folder
    from spectralnlp.storage import read_kept_header

    if treebank is not None:
        learner = changes.estimator_of(model, parse_settings(settings or []))
        return learner, changes.moments_of(learner, treebank)
    if settings:
        what = "--set means nothing without --with: nothing is trained anew, or with the settings of MODEL"
        raise ConfigError(what, hint="leave it out")
    if read_kept_header(moments_folder(folder_of(model))) is None:
        return None
    kept = load_kept(model, "be adapted")
    return kept.learner, kept.moments


def _from_grammars(
    model: str,
    domain: Corpus[Tree],
    weight: float | None,
    partial: list[Sentence] | None,
    unlabelled: Iterator[Any] | None,
) -> Parser:
    """Adapt the grammars and the span scorer of a model that has no kept moments.

    See `adapt_without_treebank`.

    Raises:
        ConfigError: ``unlabelled`` text is given, from which such a model cannot learn.
    """
    from spectralnlp.changes import adapt_without_treebank
    from spectralnlp.cli.models import load_parser

    if unlabelled is not None:
        what = f"{model} keeps no moments, and learns nothing from text without trees"
        raise ConfigError(what, hint="give the treebank that it was trained on after --with")
    say(f"{model} keeps no moments: its grammars and its span scorer are adapted as they are")
    return adapt_without_treebank(
        load_parser(model), list(domain), weight=weight, partial=partial, report=say
    )


def _sentences(model: str, files: list[str]) -> Iterator[Any]:
    """Yield the sentences of raw text files, split by the model's tokenizer."""
    from spectralnlp import load
    from spectralnlp.runtime import expand_inputs, open_text, rereadable

    parser = load(model)
    for path in expand_inputs(rereadable(files)):
        with open_text(path) as lines:
            yield from (each for each in parser.sentences(lines) if each is not None)


def _partial_trees(file: str) -> Iterator[Sentence]:
    """Yield the sentences of a file of JSON lines, each with its constraints.

    Raises:
        InputError: a line is not a valid partial tree; the error names file and line.
    """
    from spectralnlp.runtime import open_text
    from spectralnlp.text.constraints import ConstraintError, Constraints
    from spectralnlp.text.inputs import check_tokens
    from spectralnlp.text.tokens import Sentence

    hint = 'a line is {"tokens": ["Gulls", "fly"], "brackets": [[0, 1, "NP"]]}'
    with open_text(file) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                tokens = check_tokens(value.pop("tokens"), least=1)
                yield replace(Sentence.from_words(tokens), constraints=Constraints.from_json(value))
            except ConstraintError as error:
                raise InputError(error.what, path=file, line=number, hint=error.hint) from error
            except (ValueError, RecursionError, AttributeError, KeyError, TypeError, InputError) as error:
                raise InputError("no partial tree", path=file, line=number, hint=hint) from error
