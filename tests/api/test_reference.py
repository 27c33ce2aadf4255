from __future__ import annotations

import pytest

pytest.importorskip("sklearn")  # the estimators of the extra [sketch] are on the page

from benchmarks.reference import PAGE, page


def test_the_reference_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m benchmarks.reference"
