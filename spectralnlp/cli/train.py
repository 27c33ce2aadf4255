"""``spectralnlp train``: train an estimator on data and write a model folder."""

from __future__ import annotations

import re
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import announced_kernels, note, progress, say
from spectralnlp.cli.engines import (
    HERE,
    CheckpointFolder,
    MemorySize,
    SkipBadPartitions,
    Where,
    engine_options,
    evaluated,
    limits,
)
from spectralnlp.cli.options import (
    FileEncoding,
    LabelColumn,
    NewFolder,
    Overwrite,
    Renamings,
    SkipBad,
    TextColumn,
    TreebankWeights,
    accepted,
    map_of,
    weights_of,
)
from spectralnlp.cli.skipping import Skipped
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.estimator import Estimator

_KEPT_READING = ("text_column", "label_column", "encoding", "map")
SECTION = "estimator"  # name of the section of a configuration, as printed and in --config
# Matches a line of a configuration that may follow a blank line.
_SETTING = re.compile(r"\s*([#;\[]|[\w.-]+\s*=)")


@engine_options("engine", "scheduler", "jobs")
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
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting; preset=NAME starts from a preset."),
    ] = None,
    reader: Annotated[str, typer.Option(metavar="NAME", help="How to read the data.")] = "auto",
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    encoding: FileEncoding = None,
    weight: TreebankWeights = None,
    renamings: Renamings = None,
    unlabelled: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Text without labels to learn from as well; repeatable."),
    ] = None,
    skip_bad: SkipBad = False,
    where: Where = HERE,
    skip_bad_partitions: SkipBadPartitions = False,
    checkpoint: CheckpointFolder = None,
    memory: MemorySize = None,
    card: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Markdown to put above the model card's tables.")
    ] = None,
    keep_moments: Annotated[
        bool,
        typer.Option(
            "--keep-moments",
            "--keep-examples",
            help="Keep what can be updated, forgotten, merged: moments, or the examples themselves.",
        ),
    ] = False,
    keep_words_above: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="With --keep-moments, replace words seen N times or less by others that look alike.",
        ),
    ] = 0,
    documents: Annotated[
        str | None, typer.Option(metavar="UNIT", help="With --keep-moments, what is forgotten: file or line.")
    ] = None,
) -> None:
    """Train a model."""
    from spectralnlp import changes, registry
    from spectralnlp.changes.adaptation.with_treebank import needs_moments
    from spectralnlp.changes.kept_moments import check_keeps
    from spectralnlp.hyperparameters import hyperparameters
    from spectralnlp.runtime import SkippingCorpus, executing, rereadable
    from spectralnlp.storage import check_writable

    name = registry.estimators.resolve(estimator)
    kind: type[Estimator[Any]] = registry.estimators.get(name)
    typed, configured = parse_settings(settings or []), read_config(config, name)
    is_setting = "unlabelled" in hyperparameters(
        kind
    )  # otherwise the unlabelled text is data that the task reads
    if unlabelled and is_setting:
        configured["unlabelled"] = unlabelled
    learner = kind.from_settings(typed, configured)
    if memory is not None:
        check_spills(name, kind, keep_moments)
    check_writable(output, overwrite=overwrite)
    description = read_card(card)
    if keep_moments:
        check_keeps(name, learner)
    else:
        for option, given in (("--documents", documents), ("--keep-words-above", keep_words_above)):
            if given:
                raise ConfigError(f"{option} means nothing without --keep-moments", hint="leave it out")
    print(filled_config(name, learner), flush=True)

    task = registry.tasks.get(kind.task)()
    skipped = Skipped(say) if skip_bad else None
    options = {
        "text_column": ("--text-column", text_column),
        "label_column": ("--label-column", label_column),
        "encoding": ("--encoding", encoding),
        "on_bad": ("--skip-bad", skipped),
        "map": ("--map", map_of(renamings)),
    }
    more = None if is_setting else unlabelled or None
    only_here = {"unlabelled": ("--unlabelled", more), "weights": ("--weight", weights_of(weight))}
    reading = accepted(task, "read", {**options, **only_here})
    started = perf_counter()
    with limits(checkpoint, skip_bad_partitions=skip_bad_partitions, memory=memory):
        with (
            where.running(),
            announced_kernels(),
            progress("training") as shown,
            executing(show_share=shown.show_share),
        ):
            inputs, dev = ([str(each) for each in rereadable(given or [])] for given in (inputs, dev))
            if keep_moments:
                reader = task.resolve_reader(inputs, reader)
            corpus = task.read(inputs, reader=reader, **reading)
            held_out = (
                task.read_gold(dev, reader=reader, **accepted(task, "read_gold", options)) if dev else None
            )
            if skipped is not None:
                skipped.find(corpus, held_out or ())
            if skip_bad_partitions:
                corpus = SkippingCorpus(corpus)
            if keep_moments:
                how = {"reader": reader}
                how |= {name: reading[name] for name in _KEPT_READING if name in reading}
                change = changes.train(
                    name,
                    learner,
                    corpus,
                    unit=documents,
                    keep_words_above=keep_words_above,
                    reading=how,
                    report=say,
                    description=description,
                )
                model, to_save = change.model, change
            else:
                model = to_save = task.train(learner, corpus, report=say, description=description)
        to_save.save(output, overwrite=overwrite)
    say(f"{output}: trained in {perf_counter() - started:.1f} s")
    if not keep_moments and needs_moments(learner, model):
        note(
            "this parser cannot be adapted to another domain without its treebank: for that, train it with "
            "--keep-moments"
        )
    if held_out is not None:
        print(f"\n{evaluated(task, model, held_out, where.jobs).to_table()}")


def check_spills(name: str, kind: type[Estimator[Any]], keep_moments: bool) -> None:
    """Check that the option ``--memory`` has an effect for an estimator.

    Raises:
        ConfigError: the estimator does not spill to disk, or moments are kept, which are held in memory.
    """
    from spectralnlp import registry

    if not kind.spills:
        shown = registry.estimators.shown(name)
        what = f"--memory cannot bound {shown}, which holds what it learns from in memory"
        raise ConfigError(
            what, hint="leave it out; lpcfg, eigenwords, hmm and topics write to disk what does not fit"
        )
    if keep_moments:
        what = (
            "--memory cannot bound --keep-moments, which keeps all counts or documents, not the frequent ones"
        )
        raise ConfigError(what, hint="give one or the other")


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
