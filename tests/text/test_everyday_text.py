"""Sentences, tokens and tags of everyday text: imperatives, quotations, lists, mail, chat, paths."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import product

import pytest

import spectralnlp
from spectralnlp.models.parser import Parser
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer

RULES = Tokenizer()


@pytest.fixture(scope="module")
def english() -> Parser:
    parser: Parser = spectralnlp.load("en")
    return parser


def split(text: str, tokenizer: Tokenizer) -> list[str]:
    sentences = split_sentences(io.StringIO(text), tokenizer)
    return [" ".join(text[s.start : s.end].split()) for s in sentences]


def tokens(text: str, tokenizer: Tokenizer = RULES) -> str:
    return " ".join(token.text for token in tokenizer.tokenize(text))


VERBS = ["See", "Use", "Call", "Ask", "Tell", "Meet", "Visit", "Open", "Try", "Read", "Send", "Give", "Check"]
VERBS += ["Watch", "Follow", "Choose", "Contact", "Join", "Add", "Start", "Select"]
NAMES = [
    "John",
    "Mary",
    "Chrome",
    "Hall v. City",
    "Dr. Smith",
    "Google Maps",
    "Section 4",
    "NASA",
    "St. Paul",
]
RESTS = [" on Friday.", " for this.", ".", " at Heathrow Airport.", " and Tom in May.", " before you leave!"]


def test_no_sentence_ends_without_a_mark(english: Parser) -> None:
    texts = ["".join(parts) for parts in product([verb + " " for verb in VERBS], NAMES, RESTS)]
    texts += [text.lower() for text in texts[::5]] + [text.upper() for text in texts[::5]]
    assert len(texts) > 1500
    assert [text for text in texts if split(text, english.tokenizer) != [text]] == []
    assert split("\n".join(texts), english.tokenizer) == texts
    texts = [
        "Re: Broken lamps",
        'Call "The Office" Monday.',
        "Ask Tom (my uncle) Mary's age.",
        "Note: See John.",
    ]
    assert [text for text in texts if split(text, english.tokenizer) != [text]] == []


def test_sentences_of_a_paragraph(english: Parser) -> None:
    paragraph = ["See John on Friday.", "Use Chrome for this.", "See Hall v. City.", "Open Google Maps!"]
    assert split(" ".join(paragraph), english.tokenizer) == paragraph


QUOTED = ["I know,", "Why not?", "Stop!", "Where is she?", "No!", "Who are you?!", "But then..."]
SPEAKERS = ["Tom", "I", "Mary Ann", "Dr. Smith", "Mr. J. Jones", "Captain Lee of the Navy", "Anna's mother"]
VERBS_OF_SAYING = ["asked.", "said quietly.", "cried, and left.", "whispered to the man.", "shouted at me."]
STYLES = ["“{}”", '"{}"', "‘{}’", "'{}'"]


def quotations() -> Iterator[str]:
    for what, who, verb, style in product(QUOTED, SPEAKERS, VERBS_OF_SAYING, STYLES):
        yield f"{style.format(what)} {who} {verb}"


def test_a_quotation_and_who_said_it_are_one_sentence(english: Parser) -> None:
    texts = list(quotations())
    assert len(texts) == 980
    for tokenizer in (RULES, english.tokenizer):
        assert [text for text in texts if split(text, tokenizer) != [text]] == []


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("said", "following"),
    [
        ("No!", "He said so."),
        ("Why not?", "The man asked that."),
        ("Stop!", "Tom left."),
        ("Really?", "Mary said nothing."),
        ("It is late.", "Tom said that he was tired."),
    ],
)
def test_two_sentences_after_a_quotation(style: str, said: str, following: str) -> None:
    first = style.format(said)
    assert split(f"{first} {following}", RULES) == [first, following]


@pytest.mark.parametrize(
    "text",
    [
        "(a) Open the door. | (b) Close it.",
        "a) Open the door. | b) Close it.",
        "iv) Close it. | v) Go home.",
        "1. Open the door. | 2. Close it. | 10. Go home.",
        "1.2. Open the door. | 1.3) Close it.",
        "• Buy milk. | • Call Tom.",
        "- Buy milk. | - Call Tom.",
        "– Buy milk. | – Call Tom.",
        "* Buy milk. | * Call Tom.",
        "# The house | It is old.",
        "Do this: (i) Open it. | (ii) Close it.",
        "Do this: 1. Open it. | 2. Close it.",
        "> I think so. | > - Yes, I do.",
        ">> 1. He came. | > He left. | So they say.",
    ],
)
def test_marks_belong_to_their_items(text: str, english: Parser) -> None:
    expected = text.split(" | ")
    for tokenizer in (RULES, english.tokenizer):
        assert split("\n".join(expected), tokenizer) == expected
        if text[0] not in "#>":
            assert split(" ".join(expected), tokenizer) == expected


@pytest.mark.parametrize(
    "text",
    [
        "hi tom | what's up | not much | ok see you",
        "tom: hi | anna: are you there? | tom: yes",
        "<tom> hi | <anna> hello there | <tom> bye",
        "Fire Destroys Hotel | Two People Hurt | Council Votes To Delay The Opening Of A New Bridge | Rain",
        "Government announces new plan for city schools | Teachers welcome the decision | Rain in the north",
        "GOVERNMENT WINS THE LAST VOTE OF THE YEAR BY A SINGLE VOICE | MINISTER STAYS",
        "> see you there | > are you sure? | yes | > good",
        "(a) milk | (b) bread | iii) eggs | 4. salt | • flour | - sugar | * jam | – tea",
        "Great day 😀 | See you",
    ],
)
def test_a_line_is_a_sentence(text: str, english: Parser) -> None:
    expected = text.split(" | ")
    assert split("\n".join(expected), english.tokenizer) == expected


def test_wrapped_lines_go_on(english: Parser) -> None:
    wrapped = (
        "The boats that we had seen the day before in the old harbour of\n"
        "Bergen had left, and nobody knew where to. We asked the keeper of the\n"
        "lighthouse and\nsome fishermen.\n"
    )
    expected = [
        "The boats that we had seen the day before in the old harbour of Bergen had left, and nobody knew "
        "where to.",
        "We asked the keeper of the lighthouse and some fishermen.",
    ]
    assert split(wrapped, english.tokenizer) == expected
    mail = "".join(f"> {line}\n" for line in wrapped.splitlines())
    assert [each.replace("> ", "") for each in split(mail, english.tokenizer)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run ./build.sh now.", "Run ./build.sh now ."),
        ("Use .NET and ../bin, or ~/src.", "Use .NET and ../bin , or ~/src ."),
        ("It is in /usr/local/bin/ (or ./x.py).", "It is in /usr/local/bin/ ( or ./x.py ) ."),
        ("Edit .gitignore, not ../.git/config.", "Edit .gitignore , not ../.git/config ."),
        ("See https://a.org/Sphinx_(tool).", "See https://a.org/Sphinx_(tool) ."),
        ("(see www.a.org/Sphinx_(tool)/b)", "( see www.a.org/Sphinx_(tool)/b )"),
        ("(see https://a.org/tool), no", "( see https://a.org/tool ) , no"),
        ("I'm lovin' it, ol' man.", "I 'm lovin' it , ol' man ."),
        ("He kept talkin’ an’ talkin’.", "He kept talkin’ an’ talkin’ ."),
        ("He said 'come in' and 'begin'.", "He said ' come in ' and ' begin ' ."),
        ("the dogs' tails", "the dogs ' tails"),
        ("He ran. Then ...and so on", "He ran . Then ... and so on"),
        ("It costs .5 or 1/2.", "It costs .5 or 1/2 ."),
        ("This and/or that", "This and/or that"),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected


OPENED = ["`code`", "``Go''", '"Go"', "“Go”", "`Go'", "'Go'", "‘Go’"]


@pytest.mark.parametrize("quoted", OPENED)
def test_quotation_marks_have_directions(quoted: str) -> None:
    forms = [token.form for token in RULES.tokenize(f"We said {quoted} to him.")]
    assert (forms[2].strip("`"), forms[4].strip("'")) == ("", "")


def test_straight_marks_are_written_as_the_treebank_directs_them() -> None:
    both = Tokenizer(
        Conventions(
            double_quotes=('"', '"'), single_quotes=("'", "'"), typography="‘’“”", ascii_escapes=False
        )
    )
    straight = [token.form for token in both.tokenize("He said, \"I like 'Go'.\" Why?")]
    curly = [token.form for token in both.tokenize("He said, “I like ‘Go’.” Why?")]
    assert straight == curly
    assert both.normalise_all(["He", "said", '"', "Go", ".", '"']) == ["He", "said", "“", "Go", ".", "”"]


SPOKEN = [
    "{0}I like it,{1} she said.",
    "He said, {0}We can go now.{1}",
    "The word {0}gull{1} is short.",
    "{0}Why not?{1} Tom asked.",
    "They call it {0}the old mill{1} here.",
    "She wrote {0}no{1} and {0}never{1} on the wall.",
    "{0}Stop!{1} cried the keeper of the lighthouse.",
    "Is this the {0}new{1} one?",
]


@pytest.mark.slow
def test_the_style_of_quotation_marks_changes_no_tree(english: Parser) -> None:
    for text in SPOKEN:
        trees = []
        for style in (("“", "”"), ('"', '"'), ("``", "''")):
            (parse,) = english.parse(text.format(*style))
            trees.append([parse.tree.spans(), parse.tree.tags()])
            marks = [tag for tag in parse.tree.tags() if tag in ("``", "''")]
            assert marks == ["``", "''"] * text.count("{0}")
        assert trees[0] == trees[1] == trees[2]


@pytest.mark.slow
@pytest.mark.parametrize("sign", ["•", "|", "#", ">", "*", "→", "😀", "👍🏽", "★", "~"])
def test_signs_have_one_tag(sign: str, english: Parser) -> None:
    texts = [
        "He likes {} very much.",
        "{} Buy milk.",
        "a {} b",
        "Home {} About us",
        "I love it {}",
        "See the {} sign.",
    ]
    found = set()
    for text in texts:
        for parse in english.parse(text.format(sign)):
            pairs = zip(parse.sentence.words, parse.tree.tags(), strict=True)
            found |= {tag for word, tag in pairs if word == sign}
    assert found == {":" if sign == "•" else "SYM"}  # as in corpora/everyday
