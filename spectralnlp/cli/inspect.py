"""``spectralnlp inspect``: print the top words and rules of a grammar's latent states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spectralnlp.cli.options import ModelName

if TYPE_CHECKING:
    from spectralnlp.models.inspection import SymbolReport


def inspect(
    model: ModelName,
    symbol: Annotated[
        str | None, typer.Argument(metavar="[SYMBOL]", help="A nonterminal or tag; all without one.")
    ] = None,
) -> None:
    """Show the top words and rules of each latent state."""
    from spectralnlp.cli.models import load_for

    for report in load_for(model, "inspect", "be inspected").inspect(symbol):
        print("\n".join(_describe(report)))


def _describe(report: SymbolReport) -> list[str]:
    """Return the lines that describe a symbol: a heading, then the top words and rules of each state."""
    lines = [f"{report.symbol}  {report.n_states} state{'s' * (report.n_states != 1)}"]
    if report.singular_values:
        lines.append("  singular values " + "  ".join(f"{value:.3g}" for value in report.singular_values))
    for state in report.states:
        lines.append(f"  state {state.index}")
        if state.words:
            lines.append("    " + "  ".join(f"{word} {score:.3g}" for word, score in state.words))
        lines.extend(f"    {score:8.4f}  {rule}" for rule, score in state.rules)
    return [*lines, ""]
