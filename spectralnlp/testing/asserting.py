"""Assertions that survive ``python -O`` and say what was promised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spectralnlp.errors import SpectralError


def require(condition: object, promise: str) -> None:
    """Raise an AssertionError with the promise where the condition does not hold."""
    if not condition:
        raise AssertionError(promise)


def refusal(action: Callable[[], Any], promise: str, kind: type[SpectralError] = SpectralError) -> str:
    """Return the message with which an action is refused.

    Args:
        action: what has to be refused.
        promise: what is said where it is not.
        kind: the error that it has to raise.

    Raises:
        AssertionError: it raises nothing, another error, or more than one line.
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
    """Run checks one after the other; all failures are in one AssertionError.

    Args:
        checks: by name.
        excused: names of checks that are left out, each with the reason.
        subject: what is checked, for the message.
        arguments: of each check.
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
        # An extension can fail in any way; all that is broken is reported together.
        except Exception as error:
            first = first or error
            text = str(error) if isinstance(error, AssertionError) else f"raised {error!r}"
            failures.append(f"{name}: {text}")
    if failures:
        raise AssertionError(f"{subject}: " + "\n".join(failures)) from first
