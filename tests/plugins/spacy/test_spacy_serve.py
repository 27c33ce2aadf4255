"""The page of ``spectralnlp serve``: its answers, whom it answers, and the page in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy")

from spacy_texts import TEXT
from spectralnlp_spacy.serve.analysis import Analyst
from spectralnlp_spacy.serve.pipeline import load_pipeline
from spectralnlp_spacy.serve.server import Server

from spectralnlp.errors import ConfigError


@pytest.fixture(scope="module")
def server(parser_folder: Path) -> Iterator[Server]:
    with pytest.warns(UserWarning, match="SW001"):
        nlp = load_pipeline([str(parser_folder)], "en")
    with Server(nlp, port=0, k=3) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(server: Server, text: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    body = text if isinstance(text, bytes) else json.dumps({"text": text}).encode()
    connection.request("POST", "/analyse", body, headers)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


def test_the_answer_has_trees_confidence_alternatives_and_tags(server) -> None:
    status, answer = ask(server, TEXT)
    assert status == 200
    assert [sentence["text"] for sentence in answer["sentences"]] == re.split(r"(?<=[.?]) (?!Ok)", TEXT)
    first = answer["sentences"][0]
    assert [token["tag"] for token in first["tokens"]] == "DT NN VBZ DT NNS DT NN .".split()  # noqa: SIM905
    assert first["constituents"][0]["label"] == "S"
    assert all(0 <= each["posterior"] <= 1 for each in first["constituents"])
    assert 1 < len(first["trees"]) <= 3
    assert all(tree["svg"].startswith("<svg") for tree in first["trees"])
    assert len({tree["brackets"] for tree in first["trees"]}) == len(first["trees"])
    assert answer["intents"] == []


def test_tags_and_intents_of_other_models_are_shown(parser_folder, own_corpora, tmp_path) -> None:
    pytest.importorskip("sklearn")
    from spectralnlp.cli.app import run

    for name, path in (("tagger", "text/tagged.txt"), ("intent", "intents/train.tsv")):
        assert run(["train", name, str(own_corpora / path), "-o", str(tmp_path / name)]) == 0
    with pytest.warns(UserWarning, match="SW001"):
        nlp = load_pipeline([str(parser_folder), str(tmp_path / "tagger"), str(tmp_path / "intent")], "en")
    assert nlp.pipe_names == ["spectral_parser", "spectral_tagger", "spectral_textcat"]
    answer = Analyst(nlp, k=1).analyse("When does the next boat leave?")
    assert answer["intents"][0]["label"] == "timetable"
    assert 0 < answer["out_of_scope"] < 1
    assert len(answer["sentences"][0]["trees"]) == 1


@pytest.mark.parametrize("text", ["", "  \n", "<b>&amp;</b>", "a\x00b", "漢字", "word " * 300])
def test_any_text_is_answered(server, text) -> None:
    status, answer = ask(server, text)
    assert status == 200
    assert "<b>" not in "".join(tree["svg"] for s in answer["sentences"] for tree in s["trees"])


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("x" * 2001, 400, "2,001 characters"),
        (b"not json", 400, "send"),
        (b"[]", 400, "send"),
        (b"x" * 100_000, 403, "too long"),
    ],
)
def test_bad_requests_are_told_so(server, body, status, message) -> None:
    got, answer = ask(server, body)
    assert got == status
    assert message in answer["error"]


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_pages_elsewhere_are_refused(server, headers) -> None:
    assert ask(server, TEXT, **headers)[0] == 403


def test_the_server_is_of_this_machine_alone(server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", server.page.decode()) is None
    with pytest.raises(ConfigError, match="cannot listen on port"):
        Server(server.analyst.nlp, port=server.server_port, k=1)


def test_what_cannot_be_shown_is_refused(tmp_path) -> None:
    with pytest.raises(ConfigError, match="no pipeline 'nowhere'"):
        load_pipeline(["nowhere"], "en")
    import spacy

    spacy.blank("en").to_disk(tmp_path / "nlp")
    with pytest.raises(ConfigError, match="nothing here parses"):
        load_pipeline([str(tmp_path / "nlp")], "en")


def test_the_command_says_where_the_page_is(parser_folder) -> None:
    command = [sys.executable, "-m", "spectralnlp_spacy_serve_test"]
    code = "from spectralnlp.cli import main; import sys; sys.exit(main())"
    command = [sys.executable, "-c", code, "serve", str(parser_folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", address)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/")
        response = connection.getresponse()
        assert response.status == 200
        assert b"<title>spectralnlp</title>" in response.read()
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        connection.close()
    finally:
        process.send_signal(2)
        _, complaints = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "stopped" in complaints


# ---------------------------------------------------------------------------------------------------------
# In a browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1300,1100"
)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs Chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (pip install selenium)")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(30)
    yield driver
    driver.quit()


def test_the_page_in_chromium(server, browser) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(browser, 30)
    browser.get(server.address)
    wait.until(lambda _: browser.find_elements(By.CSS_SELECTOR, "section.sentence"))
    box = browser.find_element(By.ID, "text")
    box.clear()
    box.send_keys("The keeper climbs the stairs every evening.")
    wait.until(lambda _: "keeper" in browser.find_element(By.ID, "sentences").text)

    tokens = [each.text.split("\n") for each in browser.find_elements(By.CSS_SELECTOR, ".token")]
    assert tokens[:3] == [["The", "DT"], ["keeper", "NN"], ["climbs", "VBZ"]]
    rows = browser.find_elements(By.CSS_SELECTOR, "aside li")
    assert rows[0].text.split("\n")[0].startswith("S")
    assert browser.find_elements(By.CSS_SELECTOR, ".tree svg .phrase")

    # Pointing at a constituent lights up its words and its part of the tree.
    webdriver = __import__("selenium.webdriver", fromlist=["ActionChains"])
    webdriver.ActionChains(browser).move_to_element(rows[1]).perform()
    hot = [each.text.split("\n")[0] for each in browser.find_elements(By.CSS_SELECTOR, ".token.hot")]
    assert hot == ["The", "keeper"]
    assert browser.find_element(By.CSS_SELECTOR, ".tree .hot").get_attribute("data-key") == "NP:0:2"

    # Another tree.
    before = browser.find_element(By.CSS_SELECTOR, ".tree").get_attribute("innerHTML")
    tabs = browser.find_elements(By.CSS_SELECTOR, ".tabs button")
    assert len(tabs) > 1
    tabs[1].click()
    assert tabs[1].get_attribute("aria-selected") == "true"
    assert browser.find_element(By.CSS_SELECTOR, ".tree").get_attribute("innerHTML") != before

    # Markup is text, and nothing went wrong on the way.
    box.clear()
    box.send_keys("<img src=x onerror=alert(1)> is no tag.")
    wait.until(lambda _: "onerror" in browser.find_element(By.ID, "sentences").text)
    assert not browser.find_elements(By.CSS_SELECTOR, "#sentences img")
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    if "SPECTRALNLP_SCREENSHOT" in os.environ:
        browser.save_screenshot(os.environ["SPECTRALNLP_SCREENSHOT"])
