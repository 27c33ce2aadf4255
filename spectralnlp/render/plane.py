"""Plots of word vectors in the plane, as in the tutorial's figures; needs matplotlib (extra ``[plot]``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from spectralnlp.errors import ConfigError, InputError

FORMATS = (".png", ".svg")
# Radius of a dot, in points; and candidate offsets of a label from its dot, the nearest first.
_DOT = 2.0
_TURNS = np.linspace(0, 2 * np.pi, 16, endpoint=False) + np.pi / 4
_RINGS = np.arange(3.0, 60.0, 4.0)
_OFFSETS = (
    (_RINGS[:, None, None] * np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)).reshape(-1, 2).round(6)
)


class WordSpace(Protocol):
    """Protocol of objects that have a vector for each word, such as `spectralnlp.Vectors`."""

    def __contains__(self, word: object) -> bool:
        """Return whether a word has a vector."""

    def vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the vectors of words, float32 (n_words, n_dimensions)."""


@dataclass(frozen=True)
class Picture:
    """The words of one panel of a plot.

    Args:
        title: title of the panel.
        groups: words to draw in the same colour, by name of the group.
    """

    title: str
    groups: Mapping[str, Sequence[str]]


def _words(text: str) -> list[str]:
    return text.split()


PICTURES = (
    Picture(
        "parts of speech",
        {
            "nouns": _words("house home car boat dog wife word thing truth man company market price"),
            "verbs": _words("said went came took saw ate made found told asked gave wrote bought"),
            "infinitives": _words("go come take see eat make find tell ask give write buy be"),
            "adjectives": _words("good bad great small large old new young happy important"),
            "prepositions": _words("in on at of from with into over under between"),
            "adverbs": _words("quickly slowly really often never always usually simply"),
        },
    ),
    Picture(
        "pronouns",
        {
            "subject": _words("i you he she we they"),
            "object": _words("me him us them"),
            "possessive": _words("my your his her our their its"),
            "reflexive": _words("myself yourself himself herself ourselves themselves itself"),
        },
    ),
    Picture(
        "numbers",
        {
            "words": _words("one two three four five six seven eight nine ten"),
            "digits": _words("1 2 3 4 5 6 7 8 9 10"),
            "years": _words("1980 1983 1984 1985 1986 1987 1988 1990"),
            "large": _words("hundred thousand million billion dozen"),
        },
    ),
    Picture(
        "names",
        {
            "women": _words("mary jane elizabeth emma anne susan margaret alice"),
            "men": _words("john james william robert thomas david charles george"),
            "titles": _words("mr. mrs. miss dr. sir captain president"),
            "places": _words("london paris china japan america england france germany"),
        },
    ),
)


def check_drawable(path: Path) -> None:
    """Check that matplotlib is installed and can write a picture to ``path``, judged by the suffix.

    Raises:
        ConfigError: matplotlib is not installed, or the file name does not end in .png or .svg.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigError("pictures are .png or .svg", path=path, hint="choose another name")
    if find_spec("matplotlib") is None:
        raise ConfigError("drawing needs matplotlib", hint='pip install "spectralnlp[plot]"')


def draw_words(vectors: WordSpace, pictures: Sequence[Picture], path: Path) -> list[str]:
    """Plot words by the first two principal components of their vectors, one panel per picture.

    Args:
        vectors: the word vectors.
        pictures: the words of each panel.
        path: the file to write; it is replaced atomically.

    Returns:
        The words outside the vocabulary, which are not drawn.

    Raises:
        ConfigError: matplotlib is not installed, the file name does not end in .png or .svg, or the file
            cannot be written.
        InputError: a picture has fewer than three words in the vocabulary.
    """
    check_drawable(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n_columns = 1 if len(pictures) == 1 else 2
    n_rows = -(-len(pictures) // n_columns)
    figure = Figure(figsize=(6.5 * n_columns, 5.2 * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for each in axes[len(pictures) :]:
        each.remove()
    labels = [_draw_panel(each, vectors, picture) for each, picture in zip(axes, pictures, strict=False)]
    figure.draw_without_rendering()  # places the panels, so that labels can be measured
    for each in labels:
        _spread(each)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    kind = path.suffix.lower()[1:]
    # No date and no random ids, so that the same vectors give the same bytes.
    about = {"Date": None} if kind == "svg" else {}
    try:
        with matplotlib.rc_context({"svg.hashsalt": "spectralnlp"}):
            figure.savefig(partial, format=kind, dpi=120, metadata=about)
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write the picture: {error.strerror}", path=path) from error
    finally:
        partial.unlink(missing_ok=True)
    wanted = (word for picture in pictures for group in picture.groups.values() for word in group)
    return [word for word in dict.fromkeys(wanted) if word not in vectors]


def _draw_panel(axes: Any, vectors: WordSpace, picture: Picture) -> list[Any]:
    """Draw the words of one panel, and return matplotlib's annotations of the words, which may overlap."""
    groups = {name: [word for word in words if word in vectors] for name, words in picture.groups.items()}
    words = [word for group in groups.values() for word in group]
    if len(words) < 3:
        what = f"{len(words)} of the words to draw are in the vocabulary, and three are needed"
        raise InputError(what, hint="name others with `words`")
    points = plane(vectors.vectors(words))
    labels, start = [], 0
    for colour, (name, group) in enumerate(groups.items()):
        part = points[start : start + len(group)]
        start += len(group)
        axes.scatter(part[:, 0], part[:, 1], s=8, color=f"C{colour}", label=name)
        for word, (x, y) in zip(group, part, strict=True):
            labels.append(
                axes.annotate(
                    word,
                    (x, y),
                    xytext=(0, 0),
                    textcoords="offset points",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color=f"C{colour}",
                    arrowprops={"arrowstyle": "-", "color": f"C{colour}", "alpha": 0.35, "shrinkB": 2},
                )
            )
    axes.set_title(picture.title)
    axes.margins(0.12)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.legend(
        fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.01), ncol=3, frameon=False, handletextpad=0.2
    )
    return labels


def _spread(labels: Sequence[Any]) -> None:
    """Move labels of points so that they cover no point and no other label, but stay near their points."""
    boxes = np.array([label.get_window_extent().extents for label in labels])
    centres = np.array([label.axes.transData.transform(label.xy) for label in labels])
    sizes = np.column_stack([boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]])
    panel = labels[0].axes.get_window_extent().extents
    pixels = labels[0].figure.dpi / 72  # pixels per typographic point
    taken = np.concatenate([centres - _DOT * pixels, centres + _DOT * pixels], axis=1)
    for label, centre, size in zip(labels, centres, sizes, strict=True):
        around = centre + _OFFSETS * pixels + np.sign(_OFFSETS) * size / 2
        tried = np.concatenate([around - size / 2, around + size / 2], axis=1)
        covered = _overlaps(tried, taken).sum(axis=1)
        outside = (tried[:, :2] < panel[:2]).any(axis=1) | (tried[:, 2:] > panel[2:]).any(axis=1)
        best = int(np.argmin(covered + 100 * outside))  # of equally good places, the first, which is nearest
        label.set_position((around[best] - centre) / pixels)
        taken = np.concatenate([taken, tried[best : best + 1]])


def _overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return whether each of n boxes overlaps each of m others, bool (n, m).

    Boxes are rows (left, bottom, right, top).
    """
    left, right = boxes[:, None, :2] < others[None, :, 2:], boxes[:, None, 2:] > others[None, :, :2]
    return np.asarray((left & right).all(axis=2))


def plane(vectors: np.ndarray) -> np.ndarray:
    """Project vectors onto their first two principal components, float64 (n, 2), with deterministic signs."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    u, sigma, _ = np.linalg.svd(centred, full_matrices=False)
    u, sigma = u[:, :2], sigma[:2]
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    points = np.zeros((len(vectors), 2))
    points[:, : len(sigma)] = u * sigma * np.where(signs == 0, 1, signs)
    return points
