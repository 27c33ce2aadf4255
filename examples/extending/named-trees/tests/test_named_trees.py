"""The reader holds to the contract."""

from named_trees import NAMED

from spectralnlp.testing import check_reader

GOOD = "one\t(S (NP (NNP Ana)) (VP (VBZ sings)))\ntwo\t(S (NP (NNP Bo)) (VP (VBZ hums)))\n"
BAD = "one\t(S (NP Ana sings)\ntwo\t(S (NP (NNP Bo)) (VP (VBZ hums)))\n"


def test_the_reader() -> None:
    """It reads and refuses what a reader must."""
    check_reader(NAMED, GOOD, words=[["Ana", "sings"], ["Bo", "hums"]], bad_text=BAD)
