"""``spectralnlp train ESTIMATOR --help``: show the options of ``train`` and one estimator's settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from typer.core import TyperCommand

_ESTIMATOR = "spectralnlp.cli.estimator"  # key in the context's ``meta`` for the estimator's name


class TrainCommand(TyperCommand):
    """Command ``train``, whose ``--help`` lists the settings of the estimator named on the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; store the estimator's name first, because ``--help`` ends parsing."""
        if set(args) & set(ctx.help_option_names):
            values, *_ = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[_ESTIMATOR] = values.get("estimator")
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the estimator's settings after the options."""
        super().format_epilog(ctx, formatter)
        name = ctx.meta.get(_ESTIMATOR)
        if isinstance(name, str):
            for heading, rows in _sections(name):
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _sections(name: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield headings with rows for an estimator: its settings, and its presets if it has any.

    Raises:
        RegistryError: there is no such estimator.
    """
    from spectralnlp import registry
    from spectralnlp.hyperparameters import hyperparameters

    kind = registry.estimators.get(name)
    settings = [
        (each.name, f"{each.type}; default {_as_text(each.default)}. {each.help.replace('``', '')}".rstrip())
        for each in hyperparameters(kind).values()
    ]
    shown = registry.estimators.shown(registry.estimators.resolve(name))
    yield f"Settings of {shown}, for --set KEY=VALUE", settings
    presets = [
        (preset, " ".join(f"{key}={_as_text(value)}" for key, value in values.items()) or "the defaults")
        for preset, values in kind.presets.items()
    ]
    if presets:
        yield "Presets, for --set preset=NAME", presets


def _as_text(value: object) -> str:
    """Return the value of a setting as text, in the form that ``--set`` reads."""
    return value if isinstance(value, str) and value else json.dumps(value)
