"""Extension of griffe (which reads docstrings for the site) that documents the settings of estimators.

A setting is annotated as ``Annotated[T, Ge(1), Doc("…")]``. The reference shows the type as ``T``, and the
text of ``Doc`` as the setting's docstring.
"""

from __future__ import annotations

import ast
from typing import Any

from griffe import Attribute, Class, Docstring, Extension, Function, Module, Object


class Settings(Extension):
    """Griffe extension that reads the annotations of settings."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Change how the settings of a package are documented, after griffe has loaded it."""
        for each in classes_of(pkg):
            for member in each.members.values():
                if member.is_alias:
                    continue
                if isinstance(member, Attribute):
                    if (help_line := plain(member)) and member.docstring is None:
                        member.docstring = Docstring(help_line, parent=member)
                    if str(member.annotation) == "ClassVar":  # not a setting, although it has a value
                        member.labels.discard("instance-attribute")
                if isinstance(member, Function):
                    for parameter in member.parameters:
                        plain(parameter)


def classes_of(parent: Object) -> list[Class]:
    """Yield the classes in a package, at any depth."""
    found: list[Class] = []
    for member in parent.members.values():
        if member.is_alias:
            continue
        if isinstance(member, Class):
            found.append(member)
        if isinstance(member, Module | Class):
            found += classes_of(member)
    return found


def plain(value: Any) -> str:
    """Replace an annotation ``Annotated[T, …]`` of a setting by ``T``; return its help text, if any."""
    annotation = value.annotation
    if getattr(getattr(annotation, "left", None), "name", None) != "Annotated":
        return ""
    value.annotation, *more = annotation.slice.elements
    plain(value)
    for each in more:
        if getattr(getattr(each, "function", None), "name", None) == "Doc":
            return str(ast.literal_eval(" ".join(str(argument) for argument in each.arguments)))
    return ""
