"""``spectralnlp plugins``: list all registered objects with their packages and status."""

from __future__ import annotations

from typing import Annotated

import typer

from spectralnlp.cli.formats import TABLE, TableFormat, check_format, write_rows


def plugins(
    registry_name: Annotated[
        str | None, typer.Argument(metavar="[REGISTRY]", help="Only this registry, e.g. estimators.")
    ] = None,
    format_: TableFormat = TABLE,
) -> None:
    """List all registered objects, such as estimators and plugins, with their status."""
    from spectralnlp.errors import RegistryError
    from spectralnlp.registry import registries

    check_format(format_)
    if registry_name is not None and registry_name not in registries:
        hint = f"there are {', '.join(registries)}"
        raise RegistryError(f"no registry is called {registry_name!r}", hint=hint)
    chosen = [each for kind, each in registries.items() if registry_name in (None, kind)]
    # Only loading shows which plugins are broken; each failure is caught and listed.
    entries = [entry for each in chosen for entry in each.describe(load=True)]
    rows = [
        {
            "registry": each.registry,
            "name": registries[each.registry].shown(each.name),
            "package": each.distribution,
            "status": each.status,
            "reason": each.reason,
        }
        for each in entries
    ]
    write_rows(print, format_, rows)
