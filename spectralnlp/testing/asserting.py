"""Assertion functions of this package, which also work under ``python -O``, unlike ``assert``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spectralnlp.errors import SpectralError


def require(condition: object, promise: str) -> None:
    """Raise an AssertionError with the text ``promise`` unless the condition holds."""
    if not condition:
        raise AssertionError(promise)


def refusal(action: Callable[[], Any], promise: str, kind: type[SpectralError] = SpectralError) -> str:
    """Check that an action raises an error with a one-line message, and return the message.

    Args:
        action: function without arguments that must raise the error.
        promise: the requirement, for the message if the action does not fail as required.
        kind: class of the error that the action must raise.

    Raises:
        AssertionError: the action raises nothing, another error, or a message of several lines.
    """
    try:
        action()
    except kind as error:
        message = str(error)
        require("\n" not in message, f"an error is one line, not {message!r}")
        return message
    except Exception as error:
        raise AssertionError(f"{promise}: raised {error!r}, not {kind.__name__}") from error
    raise AssertionError(f"{promise}: no {kind.__name__} was raised")


def run_checks(
    checks: Mapping[str, Callable[..., None]], excused: Mapping[str, str], subject: str, *arguments: Any
) -> None:
    """Run all checks, and raise one AssertionError with all failures.

    Args:
        checks: the checks by name; each is a function that raises an error if a requirement is violated.
        excused: names of checks to skip, each with the reason.
        subject: name of the checked object, for the message.
        arguments: arguments with which every check is called.
    """
    for name, reason in excused.items():
        require(name in checks, f"no check is called {name!r}; there are {', '.join(checks)}")
        require(reason, f"excusing {name!r} needs a reason")
    failures, first = [], None
    for name, check in checks.items():
        if name in excused:
            continue
        try:
            check(*arguments)
        # An extension can fail in any way; all failures are reported together.
        except Exception as error:
            first = first or error
            text = str(error) if isinstance(error, AssertionError) else f"raised {error!r}"
            failures.append(f"{name}: {text}")
    if failures:
        raise AssertionError(f"{subject}: " + "\n".join(failures)) from first
