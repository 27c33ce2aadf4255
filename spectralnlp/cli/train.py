"""``spectralnlp train``: train an estimator on data and write a model folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from spectralnlp.cli.console import note, say
from spectralnlp.cli.options import HERE, NewFolder, Overwrite, Work, command_options
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.estimator import Estimator

_KEPT_READING = ("text_column", "label_column", "encoding", "map")
SECTION = "estimator"  # name of the section of a configuration, as printed and in --config
# Matches a line of a configuration that may follow a blank line.
_SETTING = re.compile(r"\s*([#;\[]|[\w.-]+\s*=)")

Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting; preset=NAME starts from a preset."),
]
Unlabelled: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Text without labels to learn from as well; repeatable."),
]
Annotations: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="CoNLL-U of training sentences, which the parser learns to use."),
]
KeepMoments: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--keep-moments",
        "--keep-examples",
        help="Keep what can be updated, forgotten, merged: moments, or the examples themselves.",
    ),
]
KeepWordsAbove: TypeAlias = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="With --keep-moments, replace words seen N times or less by others that look alike.",
    ),
]
Documents: TypeAlias = Annotated[
    str | None, typer.Option(metavar="UNIT", help="With --keep-moments, what is forgotten: file or line.")
]


@command_options(
    "text_column label_column encoding weight renamings unlabelled "
    "skip_bad engine scheduler jobs skip_bad_partitions checkpoint memory"
)
def train(
    estimator: Annotated[str, typer.Argument(metavar="ESTIMATOR", help="Its name; see 'plugins'.")],
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Files, folders or globs; .gz too.")],
    output: NewFolder,
    overwrite: Overwrite = False,
    dev: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Data to score at the end; repeatable.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings, in the form that train prints.")
    ] = None,
    settings: Settings = None,
    reader: Annotated[str, typer.Option(metavar="NAME", help="How to read the data.")] = "auto",
    unlabelled: Unlabelled = None,
    annotations: Annotations = None,
    work: Work = HERE,
    card: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Markdown to put above the model card's tables.")
    ] = None,
    keep_moments: KeepMoments = False,
    keep_words_above: KeepWordsAbove = 0,
    documents: Documents = None,
) -> None:
    """Train a model."""
    from spectralnlp import changes, registry
    from spectralnlp.changes.adaptation.adapter import needs_moments
    from spectralnlp.runtime import SkippingCorpus, executing, rereadable
    from spectralnlp.storage import check_writable

    name, learner, unlabelled = _learner(estimator, settings, config, unlabelled, annotations)
    check_writable(output, overwrite=overwrite)
    only_kept = {"--documents": documents, "--keep-words-above": keep_words_above}
    _check_options(name, learner, work.memory, keep_moments, only_kept)
    how: dict[str, Any] = {"report": say, "description": read_card(card)}
    print(filled_config(name, learner), flush=True)

    task, work = registry.tasks.get(learner.task)(), replace(work, report=say)
    reading = work.reading(task, unlabelled=("--unlabelled", unlabelled))
    started = perf_counter()
    with work.running("training") as shown, executing(show_share=shown.show_share):
        inputs, dev = list(map(str, rereadable(inputs))), list(map(str, rereadable(dev or [])))
        if keep_moments:
            reader = task.resolve_reader(inputs, reader)
        corpus = task.read(inputs, reader=reader, **reading)
        held_out = task.read_gold(dev, reader=reader, **work.reading(task, "read_gold")) if dev else None
        if work.skipped is not None:
            work.skipped.find(corpus, held_out or ())
        if work.skip_bad_partitions:
            corpus = SkippingCorpus(corpus)
        if keep_moments:
            kept = {"reader": reader, **{key: reading[key] for key in _KEPT_READING if key in reading}}
            how |= {"unit": documents, "keep_words_above": keep_words_above, "reading": kept}
            to_save = changes.train(name, learner, corpus, **how)
            model = to_save.model
        else:
            model = to_save = task.train(learner, corpus, **how)
        to_save.save(output, overwrite=overwrite)
    say(f"{output}: trained in {perf_counter() - started:.1f} s")
    if not keep_moments and needs_moments(learner, model):
        note(
            "this parser cannot be adapted to another domain without its treebank: for that, train it with "
            "--keep-moments"
        )
    if held_out is not None:
        print(f"\n{work.evaluated(task, model, held_out).to_table()}")


def _learner(
    estimator: str,
    settings: list[str] | None,
    config: Path | None,
    unlabelled: list[str] | None,
    annotations: list[str] | None,
) -> tuple[str, Estimator[Any], list[str] | None]:
    """Return the registered name of an estimator, the estimator, and the unlabelled files for its task.

    Args:
        estimator: name of the estimator.
        settings, config: values of ``--set`` and ``--config``.
        unlabelled: values of ``--unlabelled``, a setting of some estimators, which read these files.
        annotations: values of ``--annotations``, a setting of estimators of parsers.

    Raises:
        ConfigError: there are annotations, and the estimator has no use for them.
    """
    from spectralnlp import registry
    from spectralnlp.hyperparameters import hyperparameters

    name = registry.estimators.resolve(estimator)
    kind: type[Estimator[Any]] = registry.estimators.get(name)
    typed, configured = parse_settings(settings or []), read_config(config, name)
    if unlabelled and "unlabelled" in hyperparameters(kind):
        configured["unlabelled"], unlabelled = unlabelled, None
    if annotations:
        if "annotations" not in hyperparameters(kind):
            raise ConfigError(
                f"{registry.estimators.shown(name)} has no use for --annotations", hint="leave it out"
            )
        configured["annotations"] = annotations
    return name, kind.from_settings(typed, configured), unlabelled or None


def _check_options(
    name: str, learner: Estimator[Any], memory: str | None, keep_moments: bool, only_kept: Mapping[str, Any]
) -> None:
    """Check that ``--memory`` and the options of ``--keep-moments`` have an effect for an estimator.

    Args:
        name, learner: registered name and object of the estimator.
        memory: value of ``--memory``.
        keep_moments: whether moments are kept, which are held in memory.
        only_kept: options, and their values, that mean nothing if they are not.

    Raises:
        ConfigError: the estimator does not spill to disk, or keeps no moments, or options exclude each other.
    """
    from spectralnlp import registry
    from spectralnlp.changes.kept_moments import check_keeps

    if memory is not None and not learner.spills:
        shown = registry.estimators.shown(name)
        what = f"--memory cannot bound {shown}, which holds what it learns from in memory"
        raise ConfigError(
            what, hint="leave it out; lpcfg, eigenwords, hmm and topics write to disk what does not fit"
        )
    if memory is not None and keep_moments:
        what = (
            "--memory cannot bound --keep-moments, which keeps all counts or documents, not the frequent ones"
        )
        raise ConfigError(what, hint="give one or the other")
    if keep_moments:
        check_keeps(name, learner)
        return
    for option, given in only_kept.items():
        if given:
            raise ConfigError(f"{option} means nothing without --keep-moments", hint="leave it out")


def read_card(path: Path | None) -> str:
    """Read the text for the model card from a file; return an empty string if ``path`` is None."""
    if path is None:
        return ""
    from spectralnlp.runtime import read_short_text

    return read_short_text(path, "the card")


def parse_settings(settings: list[str]) -> dict[str, str]:
    """Parse the ``KEY=VALUE`` texts of ``--set`` into a dict; the last value of a key counts."""
    parsed = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set takes KEY=VALUE, not {setting!r}")
        parsed[key.strip()] = value.strip()
    return parsed


def read_config(path: Path | None, name: str) -> dict[str, Any]:
    """Return the settings in section ``[estimator]`` of a configuration file; an empty dict without a file.

    Raises:
        ConfigError: the file is not a configuration, or is one for an estimator other than ``name``.
    """
    if path is None:
        return {}
    from configparser import Error

    from confection import Config

    from spectralnlp import registry
    from spectralnlp.runtime import read_short_text

    try:
        sections = Config().from_str(_settings_of(read_short_text(path, "the configuration")))
    except (ValueError, Error) as error:  # confection's errors are ValueErrors
        reason = str(error).rpartition("\n\n")[2]
        raise ConfigError(f"no configuration: {reason}", path=path) from error
    if set(sections) != {SECTION}:
        raise ConfigError(f"a configuration has one section, [{SECTION}]", path=path)
    config = dict(sections[SECTION])
    written_for = str(config.pop("name", name))
    if registry.estimators.resolve(written_for) != name:
        what = f"a configuration of {written_for}, not of {registry.estimators.shown(name)}"
        raise ConfigError(what, path=path)
    return config


def _settings_of(printed: str) -> str:
    """Return the part of a text before the first line that is no setting and follows a blank line.

    This way, the printed output of ``train``, which begins with its settings, can be read as a configuration.
    """
    lines = printed.splitlines()
    for number, line in enumerate(lines[1:], 1):
        if line.strip() and not lines[number - 1].strip() and not _SETTING.match(line):
            return "\n".join(lines[:number])
    return printed


def filled_config(name: str, learner: Estimator[Any]) -> str:
    """Return all settings of an estimator as text, in the format of configuration files (``--config``)."""
    from confection import Config

    from spectralnlp import registry

    shown = registry.estimators.shown(name)
    text: str = Config({SECTION: {"name": shown, **learner.get_params(deep=False)}}).to_str()
    return text + "\n"
