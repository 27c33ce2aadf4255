"""Values of the JSON interface of ``spectralnlp serve``, from which FastAPI describes it in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from spectralnlp_web import FAILED, NOT_MEANT

# Meaning of each error status.
ERRORS = {
    400: "The request is not valid HTTP, or its body is not JSON.",
    403: NOT_MEANT,
    404: "There is nothing at this path.",
    405: "The path does not allow this method.",
    408: "The body did not arrive in time.",
    413: "The body has too many bytes, or the text has too many characters or tokens.",
    415: "The Content-Type is not `application/json` in UTF-8.",
    422: "The JSON does not have the required fields, or the bracket cannot be explained.",
    500: FAILED,
    503: "All workers are busy and the queue is full, or no worker was free in time; try again later.",
    504: "The analysis took too long, and was stopped.",
}

Share = Annotated[float, Field(ge=0, le=1)]
Bracket = tuple[Annotated[int, Field(strict=True)], Annotated[int, Field(strict=True)], str]


class Value(BaseModel):
    """JSON object that has all fields of its class and no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Error(Value):
    """Answer to a request that was refused or failed."""

    error: str
    """Error message, in one line."""


class Token(Value):
    """Token of a sentence."""

    text: str
    """Text of the token."""
    tag: str
    """Part-of-speech tag."""
    pos: str
    """Universal part-of-speech tag; empty without a tagger for it."""
    entity: str
    """Label of the entity that contains the token; empty if none does."""
    space: bool
    """Whether a space follows."""


class Constituent(Value):
    """Constituent of a sentence's tree."""

    label: str
    """Label of the constituent."""
    start: Annotated[int, Field(ge=0)]
    """First token of the constituent in the sentence, from 0."""
    end: Annotated[int, Field(ge=1)]
    """First token after the constituent."""
    posterior: Share
    """Posterior probability under the model."""


class Tree(Value):
    """Tree of a sentence."""

    brackets: str
    """The tree in bracket notation."""
    svg: str
    """Drawing of the tree, an SVG element."""
    score: float | None
    """Score of the decoder; null for the first tree."""


class Sentence(Value):
    """Sentence of the text, with its annotations."""

    text: str
    """Text of the sentence."""
    tokens: list[Token]
    constituents: list[Constituent]
    fallback: str | None
    """Why the tree is a fallback; null if it is not."""
    trees: list[Tree]


class Intent(Value):
    """Intent of the text."""

    label: str
    """Name of the intent."""
    score: Share
    """Probability of the intent."""


class Analysis(Value):
    """Annotations of a text."""

    sentences: list[Sentence]
    intents: list[Intent]
    out_of_scope: Share | None
    """How little the text resembles the texts of any intent; null without a classifier."""
    seconds: float
    """Time of the analysis, in seconds."""


class Evidence(Value):
    """Training tree that speaks for or against a bracket."""

    influence: float
    """How much the training tree raised the log-odds."""
    document: str
    """Name or number of the document of the training tree."""
    sentence: Annotated[int, Field(ge=1)]
    """Number of the training sentence in the document, from 1."""
    match: Bracket
    """The bracket of the training tree with the most influence."""
    rule: str
    """Rule of that bracket."""
    tree: str
    """The training tree in brackets."""
    words: list[str]
    """Tokens of the training tree."""
    svg: str
    """Drawing of the tree, an SVG element."""


class Explanation(Value):
    """Why a sentence has a bracket."""

    bracket: Bracket
    """The bracket that is explained."""
    log_odds: float
    """Natural logarithm of the odds under the grammar."""
    alternative: str
    """The best tree without the bracket, in bracket notation."""
    in_favour: list[Evidence]
    against: list[Evidence]
    features_in_favour: list[tuple[str, float]]
    """Features of the span scorer and their weights."""
    features_against: list[tuple[str, float]]
    """Features of the span scorer and their weights."""
    rules: list[tuple[str, float]]
    """Rules and their weights."""
    seconds: float
    """Time of the explanation, in seconds."""


def answers(kind: type[Value], what: str) -> dict[int | str, dict[str, Any]]:
    """Return the answers of an endpoint for its description, by HTTP status.

    Args:
        kind: class of the value that the endpoint returns.
        what: description of the value.
    """
    models = {200: (kind, what), **{status: (Error, meaning) for status, meaning in ERRORS.items()}}
    return {status: {"model": model, "description": what} for status, (model, what) in models.items()}
