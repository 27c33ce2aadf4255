"""Forms of words and keys of features: functions of the word alone, by character and not by byte."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER
from spectralnlp.inference.chains.joint_features import (
    N_JOINT,
    N_PAIRS,
    is_forgotten,
    joint_keys,
    key_slots,
    look_up,
)
from spectralnlp.inference.chains.templates import (
    HERE,
    N_SLOTS,
    TEMPLATES,
    find_rows,
    word_keys,
)
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_forms import FORMS, form_hashes
from spectralnlp.inference.chains.word_table import BEYOND, EDGE, WordTable
from spectralnlp.inference.words.lookup import VectorLookup
from spectralnlp.parameters import WordVectors


def form(word: str, name: str) -> int:
    return int(form_hashes([word])[0, FORMS.index(name)])


def affixes(word: str) -> tuple[list[int], list[int]]:
    """Hashes of prefixes and suffixes, shortest first."""
    hashes = form_hashes([word])[0]
    prefixes = [int(hashes[i]) for i, name in enumerate(FORMS) if name.startswith("prefix")]
    return prefixes, [int(hashes[i]) for i, name in enumerate(FORMS) if name.startswith("suffix")]


@pytest.mark.parametrize("n", range(1, 5))
def test_affixes_are_of_characters(n: int) -> None:
    for one, other in (
        ("naïveté", "xxïveté"),
        ("Straße", "Xxraße"),
        ("сказка", "xxазка"),
        ("ab😀😃😄", "xy😀😃😄"),
    ):
        size = len(one)
        shared = size - 2
        if n <= shared:
            assert form(one, f"suffix{n}") == form(other, f"suffix{n}") != 0
        assert form(one, f"prefix{n}") != form(other, f"prefix{n}")
    # the last two bytes of é and of ĩ differ in one only: suffixes know whole characters
    assert form("é", "suffix1") != form("ĩ", "suffix1")
    assert form("xé", "suffix1") == form("yé", "suffix1")


def test_affixes_are_of_small_letters_and_no_longer_than_the_word() -> None:
    assert affixes("Cats") == affixes("cAtS")
    prefixes, suffixes = affixes("cat")
    assert [each != 0 for each in prefixes] == [True] * 3 + [False]
    assert [each != 0 for each in suffixes] == [True] * 3 + [False] * 2
    assert affixes("")[0] == [0] * 4
    assert affixes("a") == ([form("a", "word"), 0, 0, 0], [form("a", "suffix1"), 0, 0, 0, 0])


def test_words_and_shapes_tell_apart_what_they_should() -> None:
    assert form("The", "word") == form("the", "word") != form("he", "word")
    assert form("The", "cased") != form("the", "cased")
    assert form("Berlin", "shape") == form("Wuppertal", "shape") != form("USA", "shape")
    assert form("A-1", "shape") == form("BCD-234", "shape") != form("A_1", "shape")
    assert form("Élan", "shape") == form("Berlin", "shape")
    assert form("Жук", "shape") == form("Berlin", "shape")
    assert form("日本", "shape") != form("中国", "shape"), "characters beyond the table are their own class"
    assert form("walking", "shape+suffix3") == form("talking", "shape+suffix3")
    assert form("Walking", "shape+suffix3") != form("talking", "shape+suffix3")
    assert form("walked", "shape+suffix3") != form("talking", "shape+suffix3")


def test_flags() -> None:
    flags = ("digit", "hyphen", "capital", "capitals", "any")
    expected = {
        "cat": "any",
        "Cat": "capital any",
        "CAT": "capital capitals any",
        "U.S.": "capital capitals any",
        "e-mail": "hyphen any",
        "4x": "digit any",
        "3-D": "digit hyphen capitals any",
        "😀": "any",
        "": "any",
    }
    for word, names in expected.items():
        assert " ".join(flag for flag in flags if form(word, flag)) == names, word


def test_strange_words_have_forms() -> None:
    long = "ab" * 50_000
    words = ["", "a", "😀", "👩‍👩‍👧", long, long + "c", "\u0130x", "\ud800"]
    hashes = form_hashes(words)
    assert hashes.shape == (len(words), len(FORMS))
    assert len(set(hashes[:, FORMS.index("cased")].tolist())) == len(words)
    for word, row in zip(words, hashes, strict=True):
        np.testing.assert_array_equal(row, form_hashes([word])[0])
    assert form_hashes([]).shape == (0, len(FORMS))


@pytest.mark.slow
def test_hashes_are_the_same_in_another_process() -> None:
    words = ["The", "naïve", "😀", "x-1", ""]
    imports = "from spectralnlp.inference.chains.word_forms import form_hashes"
    code = f"{imports}; print(form_hashes({words!r}).tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(form_hashes(words).tolist())


def test_a_feature_is_a_slot_and_a_form() -> None:
    words = ["The", "cat", "The"]
    keys = word_keys(form_hashes(words))
    assert len(keys) == N_SLOTS
    assert [each.shape[1] for each in keys] == [
        sum(slot == number for slot, _ in TEMPLATES) for number in range(N_SLOTS)
    ]
    for each in keys:
        np.testing.assert_array_equal(each[0], each[2])
    word = [FORMS[form] for slot, form in TEMPLATES if slot == HERE].index("word")
    assert keys[HERE][0, word] != keys[HERE][1, word]
    every = [set(each[0].tolist()) - {0} for each in keys]
    for a in range(N_SLOTS):
        for b in range(a):
            assert not every[a] & every[b], "the same form in two slots is two features"
    assert {HERE, FIRST, INNER} < set(range(N_SLOTS))


def test_missing_forms_have_no_key() -> None:
    short = word_keys(form_hashes(["a"]))[HERE][0]
    names = [FORMS[each] for slot, each in TEMPLATES if slot == HERE]
    missing = "prefix2 prefix3 prefix4 suffix2 suffix3 suffix4 suffix5 digit hyphen capital capitals"
    assert {names[i] for i in np.flatnonzero(short == 0)} == set(missing.split())


def reference_keys(hashes: list[int], template: int) -> list[int]:
    """Keys by Python's integers."""
    golden, mix, all_bits = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, (1 << 64) - 1
    keys = []
    for value in hashes:
        mixed = ((value ^ ((template + 1) * golden & all_bits)) * mix) & all_bits
        keys.append((((mixed ^ (mixed >> 32)) * golden) & all_bits) >> 32)
    return keys


def keys_of(sentences: list[list[str]], clusters: dict[str, int] | None = None) -> np.ndarray:
    """Keys of the tokens of sentences."""
    sources = []
    if clusters is not None:
        vectors = WordVectors(
            words=tuple(clusters),
            counts=np.ones(len(clusters), np.int64),
            vectors=np.zeros((len(clusters), 1), np.float32),
            singular_values=np.ones(1, np.float32),
            lowercase=True,
            clusters=np.array(list(clusters.values()), np.int32),
        )
        sources.append(VectorLookup(vectors))
    table = WordTable(UnlabelledFeatures(tuple(sources)))
    encoded = table.encode(sentences)
    return joint_keys(table, encoded)


def test_pairs_are_of_neighbours_in_order() -> None:
    keys = keys_of([["the", "cat", "sat"]])
    assert keys.shape == (3, N_PAIRS)
    assert len(set(keys.ravel().tolist())) == 6
    assert keys[1, 1] == keys_of([["so"], ["cat", "sat"]])[1, 1], "cat sat"
    assert keys_of([["the", "sat", "cat"]])[1, 1] != keys[1, 1]
    assert keys_of([]).shape == (0, N_PAIRS)


def test_keys_of_pairs_are_those_of_models_that_were_stored() -> None:
    the, cat = (int(h) for h in form_hashes(["the", "cat"])[:, 0])
    mix, all_bits = 0xD6E8FEB86659FD93, (1 << 64) - 1
    edge = EDGE + 1
    before = [(a * mix & all_bits) ^ b for a, b in ((edge, the), (the, cat))]
    after = [(a * mix & all_bits) ^ b for a, b in ((the, cat), (cat, edge))]
    keys = keys_of([["the", "cat"]])
    assert keys[:, 0].tolist() == reference_keys(before, 1000)
    assert keys[:, 1].tolist() == reference_keys(after, 1001)


# Which places around a token each feature of clusters depends on, and whether on the token's word.
CLUSTER_COLUMNS = {
    2: ({-2, -1, 0}, False),
    3: ({-1, 0, 1}, False),
    4: ({0, 1, 2}, False),
    5: ({-1}, True),
    6: ({1}, True),
    7: ({-1, 1}, True),
    8: ({1, 2}, True),
    9: ({-2, -1}, True),
}


def test_features_of_clusters_depend_on_the_clusters_around() -> None:
    words = ["a", "b", "c", "d", "e"]
    clusters = {word: number for number, word in enumerate(words, 1)}
    keys = keys_of([words], clusters)[2]
    assert keys.shape == (N_JOINT,)
    assert len(set(keys.tolist())) == N_JOINT
    np.testing.assert_array_equal(keys[:N_PAIRS], keys_of([words])[2])
    for place, word in zip(range(-2, 3), words, strict=True):
        other = keys_of([words], clusters | {word: 9})[2]
        for column, (places, _) in CLUSTER_COLUMNS.items():
            assert (other[column] != keys[column]) == (place in places), (column, place)
    renamed = keys_of([["a", "b", "x", "d", "e"]], clusters | {"x": clusters["c"]})[2]
    for column, (_, has_word) in CLUSTER_COLUMNS.items():
        assert (renamed[column] != keys[column]) == has_word, column
    moved = keys_of([["b", "a", "c", "e", "d"]], clusters)[2]
    assert not set(moved[[2, 3, 4, 7, 8, 9]].tolist()) & set(keys.tolist()), "order counts"


def test_clusters_are_of_words_as_their_vectors_are_and_none_outside_the_sentence() -> None:
    clusters = {"a": 1, "b": 2}
    alone = keys_of([["b"]], clusters)[0]
    np.testing.assert_array_equal(keys_of([["a", "a"], ["b"], ["a", "a"]], clusters)[2], alone)
    upper, lower = keys_of([["b", "A"]], clusters), keys_of([["b", "a"]], clusters)
    np.testing.assert_array_equal(upper[0], lower[0])


def test_forgotten_words_are_named_by_no_feature() -> None:
    for place in range(-2, 3):
        dropped = np.zeros(5, bool)
        dropped[2 + place] = True
        forgotten = {column for column in range(N_JOINT) if is_forgotten(dropped, 2, column)}
        own = {0, 1, 5, 6, 7, 8, 9}
        assert forgotten == {0: own, -1: {0}, 1: {1}}.get(place, set())


def test_keys_are_looked_up() -> None:
    rng = np.random.default_rng(0)
    known = np.unique(rng.integers(1, 1 << 32, 3000, dtype=np.uint32))
    known = np.unique(np.append(known, np.arange(1, 50, dtype=np.uint32) << np.uint32(20)))  # same low bits
    asked = np.append(known, rng.integers(1, 1 << 32, 1001, dtype=np.uint32))[:, None]
    np.testing.assert_array_equal(look_up(asked, key_slots(known)), find_rows(asked, known))
    assert look_up(asked, key_slots(known[:0])).tolist() == [[-1]] * len(asked)


def test_rows_of_keys() -> None:
    known = np.array([3, 5, 9], np.uint32)
    keys = np.array([[5, 0], [4, 9], [10, 3]], np.uint32)
    assert find_rows(keys, known).tolist() == [[1, -1], [-1, 2], [-1, 0]]
    assert find_rows(keys, known[:0]).tolist() == [[-1, -1]] * 3
    assert find_rows(keys, np.array([0, 3], np.uint32))[0, 1] == -1, "0 is no key"


def test_sentences_as_numbers() -> None:
    table = WordTable(UnlabelledFeatures())
    encoded = table.encode([["a", "b"], [], ["b"]])
    a, b = 2, 3
    around = [[BEYOND, EDGE], [EDGE, BEYOND]]
    expected = [number for words in ([a, b], [], [b]) for number in (*around[0], *words, *around[1])]
    assert encoded.types.tolist() == expected
    assert encoded.starts.tolist() == [0, 2, 2, 3]
    assert encoded.types[encoded.places].tolist() == [a, b, b]
    assert table.encode([["c", "b"]]).types.tolist() == [BEYOND, EDGE, 4, b, EDGE, BEYOND], "numbers stay"
    assert len(table) == 5
    nothing = table.encode([])
    assert (nothing.types.shape, nothing.starts.tolist()) == ((0,), [0])
