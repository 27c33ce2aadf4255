"""``spectralnlp plugins``: everything that is registered, from which package, and how it stands."""

from __future__ import annotations

from typing import Annotated

import typer


def plugins(
    registry_name: Annotated[
        str | None, typer.Argument(metavar="[REGISTRY]", help="Only this registry, e.g. estimators.")
    ] = None,
) -> None:
    """List what is registered and how it stands."""
    from spectralnlp.cli.console import table
    from spectralnlp.errors import RegistryError
    from spectralnlp.registry import registries

    if registry_name is not None and registry_name not in registries:
        hint = f"there are {', '.join(registries)}"
        raise RegistryError(f"no registry is called {registry_name!r}", hint=hint)
    chosen = [each for kind, each in registries.items() if registry_name in (None, kind)]
    # Loading is the only way to know what is broken; a plugin that fails is caught one by one.
    entries = [entry for each in chosen for entry in each.describe(load=True)]
    header = ("registry", "name", "package", "status", "reason")
    print(table(header, [(e.registry, e.name, e.distribution, e.status, e.reason) for e in entries]))
