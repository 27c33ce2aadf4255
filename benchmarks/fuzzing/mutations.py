"""Mutate bytes, JSON values and arrays at random, with a seeded generator."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Nested more deeply than the interpreter's recursion limit.
DEEP = 100_000

# Byte strings that are hard for readers.
PIECES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\r",
    b"\n\n\n",
    b"\t\t",
    b" " * 3000,
    b"(" * 100,
    b")" * 100,
    b"(S " * 500,
    b"a" * 100_000,
    b"\\",
    b"1e999",
    b"-1",
    b"nan",
    b"9" * 5000,
    "\u2028\u200b\U0001f9ff".encode(),
)

# Byte strings that are hard for XML readers: entity bombs, wrong encodings, deep nesting.
XML_PIECES = (
    b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;'>]>",
    b"<!DOCTYPE x SYSTEM 'file:///etc/hostname'>",
    b"&c;",
    b"&amp;",
    b"&#0;",
    b"<?xml version='1.0' encoding='utf-16'?>",
    b"<?xml version='1.0' encoding='koi8-r'?>",
    b"<?xml version='1.0' encoding='no-such-encoding'?>",
    b"<![CDATA[",
    b"<!--",
    b"<node id='7' index='1'/>",
    b"<node>" * 300,
    b"<node" * 300,
)


def mutated_bytes(
    random: Random, data: bytes, *, most_copies: int = 30, pieces: Sequence[bytes] = PIECES
) -> bytes:
    """Return bytes of which some are flipped, deleted, repeated, moved or replaced, at one to four positions.

    Args:
        random: random generator.
        data: the bytes.
        most_copies: maximum number of repetitions of a part.
        pieces: byte strings to insert.
    """
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(changed) + 1)
        length = random.choice((1, 2, 8, 64, 1000))
        match random.randrange(7):
            case 0 if at < len(changed):
                changed[at] ^= 1 << random.randrange(8)
            case 1:
                changed[at : at + length] = random.randbytes(min(length, 64))
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length] * random.choice((1, 2, most_copies))
            case 4:
                del changed[at:]
            case 5:
                changed[at : at + random.choice((0, length))] = random.choice(pieces)
            case _:
                part = bytes(changed[at : at + length])
                del changed[at : at + length]
                place = random.randrange(len(changed) + 1)
                changed[place:place] = part
    return bytes(changed)


# Byte strings that are hard for readers of the export format: its own lines, and parents that make cycles.
EXPORT_PIECES = (
    b"#BOS 1 0 0 0\n",
    b"#EOS 1\n",
    b"#500\tNP\t--\tSB\t500\n",
    b"#501\tNP\t--\tSB\t502\n#502\tNP\t--\tSB\t501\n",
    b"#999999999999\tNP\t--\tSB\t0\n",
    b"\t499",
    b"#FORMAT 4\n",
    b"%% " * 300,
)


# ---------------------------------------------------------------------------------------------------------
# JSON


def mutated_json(random: Random, value: Any) -> str:
    """Return a JSON document with one to three changed values, at any depth; it may be invalid JSON."""
    if random.random() < 0.1:
        return mutated_bytes(random, json.dumps(value, indent=1).encode()).decode("utf-8", "surrogateescape")
    if random.random() < 0.02:
        return "[" * DEEP + "]" * random.choice((0, DEEP))
    root = [json.loads(json.dumps(value))]
    for _ in range(random.choice((1, 1, 1, 3))):
        holder, key = _place(random, root)
        _change(random, holder, key)
    return json.dumps(root[0] if root else None, indent=1)


def _place(random: Random, root: list[Any]) -> tuple[Any, Any]:
    """Return a random container in a JSON value, and one of its keys; all depths are about as likely."""
    places: list[tuple[Any, Any]] = []
    holder: Any = root
    while isinstance(holder, dict | list) and holder:
        key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
        places.append((holder, key))
        holder = holder[key]
    return random.choice(places) if places else (root, slice(0, 0))


def _change(random: Random, holder: Any, key: Any) -> None:
    if isinstance(key, slice):
        return
    match random.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[str(key) + random.choice((" ", "2", "é"))] = holder.pop(key)
        case 1 | 2 if isinstance(holder, list):
            holder[key : key + 1] = [holder[key]] * random.choice((2, 3, 50))
        case 3 if isinstance(holder, list):
            random.shuffle(holder)
        case 4 if isinstance(holder[key], list | dict | str) and holder[key]:
            old = holder[key]
            half = len(old) // 2
            holder[key] = dict(list(old.items())[:half]) if isinstance(old, dict) else old[:half]
        case _:
            holder[key] = random.choice(_values(holder[key]))


def _values(old: Any) -> list[Any]:
    values: list[Any] = [
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        -(2**31),
        2**31,
        2**63,
        10**18,
        10**400,
        0.5,
        -1e308,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        "x" * 200_000,
        "\ud800",
        "a\nb\tc\x00",
        [],
        {},
        [old],
        {"a": old},
        [[[[[]]]]],
        ["a", "a"],
        [1, 2, 3],
        {"": None},
    ]
    if isinstance(old, int | float):
        values += [old + 1, old - 1, old * 1000, str(old)] * 2
    return values


# ---------------------------------------------------------------------------------------------------------
# Arrays


def mutated_arrays(random: Random, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return named arrays, one or two of which have other values, order, length, shape, dtype or name."""
    changed = dict(arrays)
    for _ in range(random.choice((1, 1, 1, 2))):
        if not changed:
            return changed
        name = random.choice(sorted(changed))
        match random.randrange(10):
            case 0:
                del changed[name]
            case 1:
                changed[name] = changed[random.choice(sorted(changed))]
            case 2:
                changed[name + random.choice((".scale", "2", ".values", ""))] = changed[name]
            case _:
                changed[name] = mutated_array(random, changed[name])
    return changed


def mutated_array(random: Random, array: Array) -> Array:
    """Return an array with changed values, order, length, shape or dtype."""
    match random.randrange(10):
        case 0:
            with np.errstate(all="ignore"):
                return array.astype(
                    random.choice(("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4", "?"))
                )
        case 1:
            return random.choice(list(_reshaped(array)))
        case 2:
            return np.full_like(array, random.choice(_numbers(array)))
        case 3 if array.ndim and len(array):
            return array[np.random.default_rng(random.getrandbits(32)).permutation(len(array))]
        case 4 if array.ndim and len(array):
            return np.sort(array, axis=0) if random.random() < 0.5 else array[::-1].copy()
        case _ if array.size:
            copy = array.copy()
            for _ in range(random.choice((1, 1, 3, 20))):
                number = random.choice(_numbers(array))
                copy.flat[random.choice((0, -1, random.randrange(array.size)))] = number
            return copy
    return array


def _reshaped(array: Array) -> Iterator[Array]:
    yield array[None]
    yield array.ravel()
    yield array[:0] if array.ndim else array.reshape(1)
    if array.ndim:
        yield array[: random_half(len(array))]
        yield np.concatenate([array, array[-1:]])
        yield np.concatenate([array, array])
    if array.ndim > 1:
        yield np.ascontiguousarray(array.T)
        yield np.ascontiguousarray(array[..., :-1])
        yield np.ascontiguousarray(array[:, :0])


def random_half(n: int) -> int:
    """Return half of n, rounded up."""
    return n - n // 2


def _numbers(array: Array) -> list[Any]:
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            info = np.finfo(array.dtype)
            return [np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, info.max, info.min, info.tiny, 1e-30, 1000]
    if array.dtype.kind == "b":
        return [True, False]
    if array.dtype.kind not in "iu":
        return [0, 1]
    info_int = np.iinfo(array.dtype)
    largest = int(array.max(initial=0))
    near = [min(largest + 1, info_int.max), max(largest - 1, 0), largest]
    return [info_int.max, info_int.min, info_int.max // 2, 0, 1, max(-1, info_int.min), 100, *near * 2]
