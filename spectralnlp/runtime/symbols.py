"""Symbols of sequences and tags: strings, integers and Booleans, as texts that can be counted and stored.

Counts, logs and files hold texts. The name of a string is the string itself, and the name of an integer or a
Boolean begins with a control character, so that 1, True and "1" have different names.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from spectralnlp.errors import InputError

# A symbol of a sequence. True and False are other symbols than 1 and 0.
Symbol: TypeAlias = str | bool | int

_MARK = "\x01"  # first character of a name that is not the symbol itself
_BOOLEANS = {False: f"{_MARK}false", True: f"{_MARK}true"}
_BITS = 64  # integers must fit into so many bits, signed or unsigned


def symbol_names(symbols: Iterable[Any], noun: str = "symbol") -> list[str]:
    """Return the names of symbols, which `symbols_named` converts back.

    Args:
        symbols: strings, integers and Booleans of Python or numpy.
        noun: what a message calls one of them.

    Raises:
        InputError: ``symbols`` is one text, or not an ordered collection; or one of them has another type (a
            missing value too), or is an integer of more than 64 bits. The message has its position, from 1.
    """
    if isinstance(symbols, str | bytes):
        raise InputError(f"a list of {noun}s is expected, not one string", hint="call split() on it")
    if not isinstance(symbols, Iterable) or isinstance(symbols, Set):  # a set has no order
        raise InputError(f"a list of {noun}s is expected, not {type(symbols).__name__}")
    listed = list(symbols)
    if set(map(type, listed)) <= {str} and _MARK not in "".join(listed):
        return listed
    return [_name_of(symbol, noun, place) for place, symbol in enumerate(listed, 1)]


def symbols_named(names: Iterable[str]) -> tuple[Any, ...]:
    """Return the symbols that have given names; integers and Booleans of numpy come back as Python's."""
    return tuple(_symbol_named(name) if name[:1] == _MARK else name for name in names)


def _name_of(symbol: Any, noun: str, place: int) -> str:
    if isinstance(symbol, str):
        text = str.__str__(symbol)  # the characters of a string of numpy or of an enumeration
        return _MARK + text if text[:1] == _MARK else text
    if isinstance(symbol, bool | np.bool_):
        return _BOOLEANS[bool(symbol)]
    if not isinstance(symbol, Integral):
        what = f"{noun} {place} is {type(symbol).__name__}, not a string or an integer"
        raise InputError(what, hint="convert it, or leave the example out if it is a missing value")
    number = int(symbol)
    if not -(1 << _BITS - 1) <= number < 1 << _BITS:
        raise InputError(f"{noun} {place} is an integer of more than {_BITS} bits", hint="give it as text")
    return f"{_MARK}{number}"


def _symbol_named(name: str) -> Symbol:
    rest = name[1:]
    if rest[:1] == _MARK:
        return rest
    if rest in ("false", "true"):
        return rest == "true"
    try:
        return int(rest)
    except ValueError:  # of a damaged file
        return name
