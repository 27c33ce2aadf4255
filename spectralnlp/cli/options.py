"""Options that several commands have, the same in each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ModelName: TypeAlias = Annotated[str, typer.Argument(metavar="MODEL", help="Name or folder of a model.")]
TextColumn: TypeAlias = Annotated[
    int | None,
    typer.Option("--column", min=1, metavar="N", help="Of lines with tabs, the column with the text."),
]
SkipBad: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out, count and name what cannot be read.")
]
EvalbFile: TypeAlias = Annotated[
    Path | None, typer.Option("--prm", metavar="FILE", help="EVALB parameters; default COLLINS.prm's.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="One flat JSON object, in percent.")]
OutputFile: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")
]
NewFolder: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="The model folder to make.")
]
