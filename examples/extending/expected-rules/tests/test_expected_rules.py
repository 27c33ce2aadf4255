"""The decoder holds to the contract."""

from expected_rules import ExpectedRules

from spectralnlp.testing import check_decoder


def test_the_decoder() -> None:
    """It finds trees as a decoder must."""
    check_decoder(ExpectedRules)
