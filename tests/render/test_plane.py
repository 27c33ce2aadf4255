from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.models.vectors import Vectors
from spectralnlp.parameters import WordVectors
from spectralnlp.render import plane as module
from spectralnlp.render.plane import PICTURES, Picture, check_drawable, draw_words, plane


def test_the_plane_is_that_of_the_leading_components() -> None:
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 6))
    points = plane(flat)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(distances, np.linalg.norm(flat[:, None] - flat, axis=2), atol=1e-9)
    assert plane(np.ones((4, 1), np.float32)).shape == (4, 2)


@pytest.mark.slow
def test_pictures_are_drawn_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = tuple(
        dict.fromkeys(word for picture in PICTURES for group in picture.groups.values() for word in group)
    )
    rows = np.random.default_rng(0).standard_normal((len(words), 5)).astype(np.float32)
    vectors = Vectors(
        WordVectors(
            words=words,
            counts=np.ones(len(words), np.int64),
            vectors=rows,
            singular_values=np.ones(5, np.float32),
        )
    )
    draw_words(vectors, PICTURES, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    for name in ("a.svg", "b.svg"):  # one panel: what takes time is drawing
        draw_words(vectors, PICTURES[:1], tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "prepositions" in (tmp_path / "a.svg").read_text()
    few = [Picture("", {"mine": ["he", "xyzzy", "she", "they"], "yours": ["plugh", "xyzzy"]})]
    assert draw_words(vectors, few, tmp_path / "a.png") == ["xyzzy", "plugh"]
    with pytest.raises(InputError, match="three are needed"):
        draw_words(vectors, [Picture("", {"mine": ["he", "xyzzy"]})], tmp_path / "c.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg", "b.svg"]


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"\.png or \.svg"):
        check_drawable(Path("picture.jpg"))
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "spectralnlp\[plot\]"'):
        check_drawable(Path("picture.png"))


@pytest.mark.slow
def test_labels_are_apart_from_each_other_and_from_points() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    figure = Figure(figsize=(6, 5), layout="constrained")
    FigureCanvasAgg(figure)
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(30)]
    rows = dict(zip(words, rng.standard_normal((30, 2)) * np.repeat([0.02, 1.0], 15)[:, None], strict=True))

    class Space:
        def __contains__(self, word: object) -> bool:
            return word in rows

        def vectors(self, listed: list[str]) -> np.ndarray:
            return np.array([rows[word] for word in listed])

    labels = module._draw_panel(figure.subplots(), Space(), Picture("", {"all": words}))
    figure.draw_without_rendering()
    module._spread(labels)
    boxes = np.array([Text.get_window_extent(label).extents for label in labels])  # without lines
    overlapping = module._overlaps(boxes, boxes)
    assert overlapping.sum() - len(words) <= 2  # of 435 pairs, with half of the words in one place
