"""The page in a real browser, by keyboard alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")


class Page:
    """What a keyboard can do, and what a reader sees."""

    def __init__(self, browser: Any, address: str) -> None:
        from selenium.webdriver import ActionChains, Keys
        from selenium.webdriver.support.ui import WebDriverWait

        self.browser, self._chains, self.keys = browser, ActionChains, Keys
        self._wait = WebDriverWait(browser, 20)
        browser.get(address)
        self.until(lambda: self.words)

    def until(self, holds: Callable[[], Any]) -> None:
        self._wait.until(lambda _: holds())

    def press(self, *keys: str) -> None:
        for key in keys:
            self._chains(self.browser).send_keys(key).perform()

    def hold(self, held: str, key: str) -> None:
        self._chains(self.browser).key_down(held).send_keys(key).key_up(held).perform()

    def answer(self, text: str) -> None:
        self.until(lambda: self.browser.execute_script("return asking.open"))
        self.press(text, self.keys.ENTER)  # what is there is selected

    def text(self, name: str) -> str:
        return str(self.browser.execute_script(f"return document.getElementById('{name}').textContent"))

    @property
    def words(self) -> list[str]:
        script = "return [...document.querySelectorAll('#words button b')].map(each => each.textContent)"
        return list(self.browser.execute_script(script))

    @property
    def tags(self) -> list[str]:
        script = "return [...document.querySelectorAll('#words button i')].map(each => each.textContent)"
        return list(self.browser.execute_script(script))

    @property
    def brackets(self) -> list[str]:
        script = "return [...document.querySelectorAll('#drawing g.phrase')].map(each => each.dataset.key)"
        return list(self.browser.execute_script(script))

    def complaints(self) -> list[Any]:
        return [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def page(running, browser) -> Page:
    return Page(browser, running.address)


def test_a_sentence_is_corrected_and_accepted(page, running) -> None:
    keys = page.keys
    page.press("n")
    page.until(lambda: page.words[1] == "old")
    page.press(keys.HOME, keys.ARROW_RIGHT, keys.ARROW_RIGHT, keys.ARROW_RIGHT, keys.ARROW_RIGHT)
    for _ in range(4):
        page.hold(keys.SHIFT, keys.ARROW_RIGHT)
    assert "the boat with a lamp" in page.text("status")
    page.press("b")
    page.answer("NP")
    page.until(lambda: "NP:4:9" in page.brackets)
    assert page.text("status").startswith("NP")
    assert running.project.documents[0][1].constraints.to_json()["brackets"] == [[4, 9, "NP"]]
    page.press("x")
    page.until(lambda: "NP:4:9" not in page.brackets)
    page.press("u")
    page.until(lambda: "NP:4:9" in page.brackets)
    page.press("r")
    page.until(lambda: "NP:4:9" not in page.brackets)
    page.hold(keys.CONTROL, "z")
    page.until(lambda: "NP:4:9" in page.brackets)
    page.press(keys.ENTER)
    page.until(lambda: "1 of 4 accepted" in page.text("where"))
    page.until(lambda: page.words[0] != "The" or page.words[1] != "old")
    (accepted,) = running.project.accepted()
    assert "(NP (NP (DT the) (NN boat)) (PP" in accepted
    assert (running.project.folder / "text.mrg").read_text() == f"{accepted}\n"
    assert page.complaints() == []


def test_edges_labels_tags_and_tokens(page, running) -> None:
    keys, document = page.keys, running.project.documents[0]
    page.press(keys.ARROW_UP)
    page.until(lambda: "The keeper" in page.text("status"))
    page.press("l")
    page.answer("ADVP")
    page.until(lambda: document[0].forbidden)
    assert page.text("trouble") == "" or "ADVP" in page.text("trouble")
    page.press("k")
    page.until(lambda: not document[0].forbidden)
    page.press(keys.HOME, keys.ARROW_UP, "y")
    page.until(lambda: document[0].brackets)
    page.press(keys.HOME, "t")
    page.answer("NN")
    page.until(lambda: page.tags[0] == "NN")
    page.press("m")
    page.until(lambda: page.words[0] == "Thekeeper")
    page.press("s")
    page.answer("The keeper")
    page.until(lambda: page.words[:2] == ["The", "keeper"])
    page.press("c")
    page.answer("odd; <img src=x onerror=alert(1)>")
    page.until(lambda: "odd; <img" in page.text("remark"))
    assert document[0].comment.startswith("odd")
    assert not page.browser.execute_script("return document.querySelectorAll('#remark img').length")


def test_edges_move(page, running) -> None:
    keys = page.keys
    page.press(keys.END, keys.ARROW_LEFT, keys.ARROW_UP)
    before = page.text("status")
    page.press(",")
    page.until(lambda: page.text("status") != before or page.text("trouble"))
    asked = running.project.documents[0][0].constraints.to_json()
    assert bool(asked["brackets"]) != bool(page.text("trouble"))


def test_what_cannot_be_is_said_and_changes_nothing(page, running) -> None:
    before = page.brackets
    page.press("b")
    page.answer("QQQ")
    page.until(lambda: "'QQQ'" in page.text("trouble"))
    assert page.brackets == before
    assert not running.project.documents[0].can(0)["undo"]
    page.until(lambda: page.browser.execute_script("return asking.open"))
    page.press(page.keys.ESCAPE)
    page.press("b", page.keys.ESCAPE)
    assert page.brackets == before


def test_a_new_label_is_added_when_it_is_meant(page, running) -> None:
    page.press(page.keys.HOME)
    page.hold(page.keys.SHIFT, page.keys.ARROW_RIGHT)
    page.press("b")
    page.answer("NML")
    page.until(lambda: "NML" in page.text("question"))
    page.press(page.keys.ENTER)
    page.until(lambda: "NML:0:2" in page.brackets)
    assert page.text("trouble") == ""
    assert page.text("status").startswith("NML")


def test_all_is_named_for_those_who_do_not_see_it(page) -> None:
    script = """
    const named = each => (each.getAttribute("aria-label") || each.textContent || "").trim();
    return [...document.querySelectorAll("button, input, [role], section, nav, progress, dialog")]
      .filter(each => !named(each) && !each.labels?.length && !each.getAttribute("aria-labelledby")
                      && !["alert", "status"].includes(each.getAttribute("role")) && each.id !== "answer"
                      && !each.closest("svg") && each.tagName !== "SECTION")
      .map(each => each.outerHTML.slice(0, 80))
    """
    assert page.browser.execute_script(script) == []
    assert page.browser.execute_script("return document.querySelector('label[for=answer]') !== null")
    keys = "[...document.querySelectorAll('nav button')].map(each => each.getAttribute('aria-keyshortcuts'))"
    shortcuts = page.browser.execute_script(f"return {keys}")
    assert len(set(shortcuts)) == len(shortcuts) > 15
    assert page.browser.execute_script("return document.querySelector('#status').getAttribute('aria-live')")


def test_the_page_is_looked_at_in_light_and_dark(page, running) -> None:
    """Saves pictures where SPECTRALNLP_SCREENSHOT names a folder."""
    page.press(page.keys.ARROW_UP, "y")
    page.until(lambda: running.project.documents[0][0].brackets)
    folder = os.environ.get("SPECTRALNLP_SCREENSHOT")
    colours = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        colours.append(page.browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        if folder:
            page.browser.save_screenshot(str(Path(folder) / f"annotate-{scheme}.png"))
    assert colours[0] != colours[1]
    page.press("?")
    page.until(lambda: page.browser.execute_script("return help.open"))
    if folder:
        page.browser.save_screenshot(str(Path(folder) / "annotate-keys.png"))
