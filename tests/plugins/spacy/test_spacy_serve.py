"""The page of ``spectralnlp serve``: its answers, whom it answers, and the page in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from spacy_texts import TEXT
from spectralnlp_spacy.serve.analysis import Analyst, TextTooLongError
from spectralnlp_spacy.serve.interface import ERRORS
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.pipeline import load_pipeline
from spectralnlp_spacy.serve.server import Server

import spectralnlp
from spectralnlp import read_treebank
from spectralnlp.errors import ConfigError

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server(parser_folder: Path) -> Iterator[Server]:
    running = Server([str(parser_folder)], port=0, k=3, limits=Limits(workers=1, seconds=20, tokens=500))
    ready = threading.Event()
    thread = threading.Thread(target=running.run, args=(ready.set,), daemon=True)
    thread.start()
    assert ready.wait(120)
    yield running
    running.stop()
    thread.join(30)
    assert not thread.is_alive()


def send(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def ask(server: Server, text: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    body = text if isinstance(text, bytes) else json.dumps({"text": text}).encode()
    response, content = send(server, "POST", "/analyse", body, **{**JSON, **headers})
    assert response.headers["Content-Type"] == "application/json"
    return response.status, json.loads(content)


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


KEEPER = ["The", "keeper", "reads", "the", "newspaper", "in", "the", "tower", "."]


def question(server: Server, words: Any, bracket: Any) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"words": words, "bracket": bracket}).encode()
    response, content = send(server, "POST", "/explain", body, **JSON)
    return response.status, json.loads(content)


def test_a_bracket_is_explained_by_training_trees(server, own_treebank) -> None:
    status, answer = question(server, KEEPER, [3, 8, "NP"])
    assert status == 200, answer
    trees = list(read_treebank(own_treebank / "train.mrg"))
    for each in (*answer["in_favour"], *answer["against"]):
        assert each["words"] == list(trees[each["sentence"] - 1].words())
        assert each["svg"].startswith("<svg")
    assert answer["in_favour"][0]["influence"] > 0 > answer["against"][0]["influence"]
    schemas = json.loads(send(server, "GET", "/openapi.json")[1])["components"]["schemas"]
    assert matches(answer, schemas["Explanation"], schemas)


@pytest.mark.parametrize(
    ("words", "bracket", "status", "error"),
    [
        (KEEPER, [3, 80, "NP"], 422, "reaches beyond"),
        (KEEPER, [3, 8, "NOUN"], 422, "NOUN"),
        (KEEPER, [3, 8], 422, "start, end and label"),
        (KEEPER, [True, 8, "NP"], 422, "start, end and label"),
        (KEEPER, None, 422, "'bracket' is missing"),
        ("The keeper", [0, 1, "NP"], 422, "not a list of words"),
        ([], [0, 1, "NP"], 422, "not a list of words"),
        (["a", 3], [0, 1, "NP"], 422, "not a list of words"),
        (["\ud800", "b"], [0, 1, "NP"], 422, "unpaired surrogate"),
        (["a"] * 501, [0, 1, "NP"], 413, "501 words; give at most 500"),
    ],
)
def test_a_question_without_sense_is_refused(server, words, bracket, status, error) -> None:
    found, answer = question(server, words, bracket)
    assert found == status
    assert error in answer["error"]
    assert "\n" not in answer["error"]


def test_tags_and_intents_of_other_models_are_shown(parser_folder, own_corpora, tmp_path) -> None:
    pytest.importorskip("sklearn")
    from spectralnlp.cli.app import run

    for name, path in (("tagger", "text/tagged.txt"), ("intent", "intents/train.tsv")):
        assert run(["train", name, str(own_corpora / path), "-o", str(tmp_path / name)]) == 0
    nlp = load_pipeline([str(parser_folder), str(tmp_path / "tagger"), str(tmp_path / "intent")], "en")
    assert nlp.pipe_names == ["parser", "tagger", "intent"]
    analyst = Analyst(nlp, 1, Limits(tokens=7))
    with pytest.warns(UserWarning, match="SW001"):
        answer = analyst.analyse("When does the next boat leave?")
    assert answer["intents"][0]["label"] == "timetable"
    assert 0 < answer["out_of_scope"] < 1
    assert len(answer["sentences"][0]["trees"]) == 1
    with pytest.raises(TextTooLongError, match="a text of 8 tokens; give at most 7"):
        analyst.analyse("When does the next boat leave ? ?")


def test_installed_models_have_names_of_their_own() -> None:
    nlp = load_pipeline(["en", "en-tagger", "en-upos"], "en")
    assert nlp.pipe_names == ["en", "en-tagger", "en-upos"]
    with pytest.warns(UserWarning, match="SW001"):
        doc = nlp("The keeper climbs the stairs.")
    assert [token.tag_ for token in doc][:3] == ["DT", "NN", "VBZ"]
    assert [token.pos_ for token in doc][:3] == ["DET", "NOUN", "VERB"]


# Emoji, URLs, quotes, contractions, brackets, stops, blanks that nobody sees, lines of many kinds.
TOKENS = (
    "Polar(r) is a well-known shop (of maps).",
    "Nice \U0001f44d\U0001f3fd work \U0001f469\u200d\U0001f469\u200d\U0001f467 today \U0001f389\U0001f389!",
    "See https://example.org/a?b=c(d) or write to a.b@c.org.",
    'He said "No." and left; “why?”, ‘she’ asked.',
    "They can't see it, shouldn't've, won't they?",
    "A (small) [test] {of} <all> brackets.",
    "Prof. Smith paid $5.50 (10%) at 3:30 p.m. in the U.S. today.",
    "gonna wanna #tag @user :-) <3",
    "film.The end. No. 5 e.g. this",
    "1. Introduction\nplan B.\r\nGo.\x85No. 5\u20286 is cold.",
    "zero\u200bwidth a\x00b  two spaces\t\ttabs\ufeff",
    "Mr. O'Neil's e-mail — an and/or 1/2 — is U.S.-based…",
)


@pytest.mark.parametrize("model", ["en", "own"])
def test_tokens_are_those_of_the_parser(model: str, parser_folder: Path) -> None:
    model = str(parser_folder) if model == "own" else model
    analyst, parser = Analyst(load_pipeline([model], "en"), 1), spectralnlp.load(model)
    for text in TOKENS:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r".*SW001")
            sentences = analyst.analyse(text)["sentences"]
        found = [[token["text"] for token in sentence["tokens"]] for sentence in sentences]
        assert found == [parse.sentence.words for parse in parser.parse(text)]


def test_two_models_of_one_name_get_numbers(parser_folder: Path, own_corpora: Path, tmp_path: Path) -> None:
    from spectralnlp.cli.app import run

    path = tmp_path / parser_folder.name
    assert run(["train", "tagger", str(own_corpora / "text" / "tagged.txt"), "-o", str(path)]) == 0
    assert load_pipeline([str(parser_folder), str(path)], "en").pipe_names == ["parser", "parser 2"]


@pytest.mark.parametrize("text", ["", "  \n", "<b>&amp;</b>", "a\x00b", "漢字", "word " * 300])
def test_any_text_is_answered(server, text) -> None:
    status, answer = ask(server, text)
    assert status == 200
    assert "<b>" not in "".join(tree["svg"] for s in answer["sentences"] for tree in s["trees"])


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "not JSON"),
        (b"not json", 400, "not JSON"),
        (b'{"text": "\xff"}', 400, "not UTF-8"),
        (b'{"text": 1' + b"0" * 5000 + b"}", 400, "not JSON"),
        (b"[" * 20_000, 400, "too deep"),
        (b"x" * 100_000, 413, "at most 25,024 bytes"),
        ("x" * 2001, 413, "2,001 characters"),
        ("a " * 501, 413, "501 tokens"),
        (b"[]", 422, "not an object"),
        (b"{}", 422, "'text' is missing or not a string"),
        (None, 422, "'text' is missing or not a string"),
        (["a"], 422, "'text' is missing or not a string"),
        (3, 422, "'text' is missing or not a string"),
        (b'{"text": "a", "texts": 1}', 422, "unknown field 'texts'"),
        (b'{"text": "\\ud800"}', 422, "unpaired surrogate"),
    ],
)
def test_bad_requests_are_told_so(server, body, status, message) -> None:
    got, answer = ask(server, body)
    assert got == status
    assert message in answer["error"]


@pytest.mark.parametrize("kind", ["text/plain", "application/json; charset=latin-1", "", "json"])
def test_other_content_types_are_refused(server, kind) -> None:
    status, answer = ask(server, TEXT, **{"Content-Type": kind})
    assert status == 415
    assert "application/json" in answer["error"]
    assert ask(server, "Go.", **{"Content-Type": 'Application/JSON; charset="UTF-8"'})[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/page", 404), ("GET", "/analyse", 405), ("DELETE", "/", 405)]
)
def test_other_paths_and_methods_are_refused(server, method, path, status) -> None:
    response, content = send(server, method, path)
    assert response.status == status
    assert set(json.loads(content)) == {"error"}


def talk(server: Server, *parts: bytes, half_closed: bool = False) -> bytes:
    """Send bytes as they are, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        for part in parts:
            connection.sendall(part.replace(b"HOST", f"Host: 127.0.0.1:{server.port}".encode()))
        if half_closed:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
            if b"\r\n\r\n" in received and json_of(received) is not None:
                break
    return received


def json_of(received: bytes) -> Any:
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
    return json.loads(body[:length]) if len(body) >= length else None


POST = b"POST /analyse HTTP/1.1\r\nHOST\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        POST + b"Content-Length: abc\r\n\r\n",
        POST + b"Content-Length: 1e3\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzzz\r\n",
        POST + b"Transfer-Encoding: gzip\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"\x00\xff\r\n\r\n",
        b"GET /" + b"x" * 100_000,
    ],
)
def test_what_is_no_http_is_told_so(server, capfd, request_) -> None:
    received = talk(server, request_)
    assert re.match(rb"HTTP/1.1 (400|501) ", received)
    assert set(json_of(received)) == {"error"}
    assert ask(server, "Go.")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_body_in_chunks_is_read_up_to_the_limit(server) -> None:
    head = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    whole = talk(server, head, b'8\r\n{"text":\r\n', b'6\r\n "Go."\r\n1\r\n}\r\n0\r\n\r\n')
    assert whole.startswith(b"HTTP/1.1 200")
    long = talk(server, head, b"FFFF\r\n" + b" " * 0xFFFF + b"\r\n")
    assert long.startswith(b"HTTP/1.1 413")


def test_clients_that_go_away_disturb_nobody(server, capfd) -> None:
    body = json.dumps({"text": TEXT}).encode()
    request = POST + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    for end in (len(request), len(request) - 5, 20):
        assert talk(server, request[:end], half_closed=True) == b""
    assert ask(server, TEXT)[0] == 200
    assert "Traceback" not in capfd.readouterr().err


# ---------------------------------------------------------------------------------------------------------
# The interface as it is documented


def matches(value: Any, schema: dict[str, Any], schemas: dict[str, Any]) -> bool:
    """Whether a value is of a schema: as much of JSON Schema as the document uses."""
    if "$ref" in schema:
        return matches(value, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return any(matches(value, each, schemas) for each in schema["anyOf"])
    types = {"string": str, "number": (int, float), "integer": int, "boolean": bool, "null": type(None)}
    types |= {"object": dict, "array": list}
    if not isinstance(value, types[schema["type"]]):
        return False
    if isinstance(value, dict):
        return set(value) == set(schema["required"]) and all(
            matches(value[name], schema["properties"][name], schemas) for name in value
        )
    if "prefixItems" in schema:
        kinds = schema["prefixItems"]
        return len(value) == len(kinds) and all(
            matches(each, kind, schemas) for each, kind in zip(value, kinds, strict=True)
        )
    if isinstance(value, list):
        return all(matches(each, schema["items"], schemas) for each in value)
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    return value is None or least <= value <= most


def test_the_interface_is_described(server) -> None:
    response, content = send(server, "GET", "/openapi.json")
    assert response.status == 200
    document = json.loads(content)
    assert document["openapi"].startswith("3.1")
    schemas = document["components"]["schemas"]
    assert all(f"#/components/schemas/{name}" in content.decode() for name in schemas)
    status, answer = ask(server, TEXT)
    assert status == 200
    assert matches(answer, schemas["Analysis"], schemas)
    assert not matches({**answer, "more": 1}, schemas["Analysis"], schemas)
    assert matches(ask(server, None)[1], schemas["Error"], schemas)
    assert schemas["Text"]["properties"]["text"]["maxLength"] == 2000
    answers = document["paths"]["/analyse"]["post"]["responses"]
    assert set(answers) == {"200", *map(str, ERRORS)}


def test_the_guide_describes_the_interface(own_corpora: Path) -> None:
    guide = (own_corpora.parent / "docs" / "serve.md").read_text(encoding="utf-8")
    for status, what in ERRORS.items():
        assert f"| {status} | {what} |" in guide


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_pages_elsewhere_are_refused(server, headers) -> None:
    assert ask(server, TEXT, **headers)[0] == 403


def test_the_server_is_of_this_machine_alone(server) -> None:
    page = send(server, "GET", "/")[1].decode()
    assert server.address == f"http://127.0.0.1:{server.port}/"
    assert re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", page) is None
    with pytest.raises(ConfigError, match="cannot listen on port"):
        Server(["en"], port=server.port, k=1)


def test_what_cannot_be_shown_is_refused(tmp_path) -> None:
    with pytest.raises(ConfigError, match="no pipeline 'nowhere'"):
        load_pipeline(["nowhere"], "en")
    import spacy

    spacy.blank("en").to_disk(tmp_path / "nlp")
    with pytest.raises(ConfigError, match="none of the models is a parser"):
        load_pipeline([str(tmp_path / "nlp")], "en")


def test_a_model_that_cannot_be_shown_ends_the_command(word_folders: dict[str, Path], capfd) -> None:
    from spectralnlp.cli.app import run

    assert run(["serve", str(word_folders["words"]), "--port", "0"]) == 2
    line = f"spectralnlp: {word_folders['words']}: a model for vectors cannot be shown\n"
    assert capfd.readouterr().err == line


@pytest.mark.slow
def test_the_command_says_where_the_page_is(parser_folder) -> None:
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

    # Clicking asks why: training trees, whose match is marked in words and, when opened, in the drawing.
    rows[1].click()
    wait.until(lambda _: browser.find_elements(By.CSS_SELECTOR, ".why details"))
    assert browser.find_element(By.CSS_SELECTOR, ".why h2").text.startswith("Why NP over “The keeper”?")
    first = browser.find_element(By.CSS_SELECTOR, ".why details")
    assert re.search(r"document 1, sentence \d+", first.text)
    label, _, phrase = first.find_element(By.CSS_SELECTOR, "mark").text.partition(": ")
    first.find_element(By.CSS_SELECTOR, "summary").click()
    wait.until(lambda _: browser.find_elements(By.CSS_SELECTOR, ".why .tree .match"))
    marked = [each.text for each in browser.find_elements(By.CSS_SELECTOR, ".why .tree .match .w")]
    assert marked == phrase.split()
    tags = browser.find_elements(By.CSS_SELECTOR, ".why .tree .match text")
    assert label in [each.text for each in tags]
    if "SPECTRALNLP_SCREENSHOT" in os.environ:
        browser.save_screenshot(f"{os.environ['SPECTRALNLP_SCREENSHOT']}.why.png")
    browser.find_element(By.CSS_SELECTOR, ".why button").click()
    assert not browser.find_element(By.CSS_SELECTOR, ".why").is_displayed()

    # Another tree.
    before = browser.find_element(By.CSS_SELECTOR, ".tree").get_attribute("innerHTML")
    tabs = browser.find_elements(By.CSS_SELECTOR, ".tabs button")
    assert len(tabs) > 1
    assert re.fullmatch(r"alternative 1 · score -?\d+\.\d\d", tabs[1].text)
    said = browser.find_element(By.CSS_SELECTOR, ".scores").text
    assert said.startswith("Scores are the decoder's: the higher, the better")
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
