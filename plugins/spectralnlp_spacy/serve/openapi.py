"""OpenAPI description of the JSON interface of ``spectralnlp serve``."""

from __future__ import annotations

from typing import Any

from spectralnlp_web import FAILED, NOT_MEANT

import spectralnlp
from spectralnlp_spacy.serve.limits import Limits

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


def describe_interface(limits: Limits) -> dict[str, Any]:
    """Return the description of the server's JSON interface, an OpenAPI document.

    Args:
        limits: limits of requests.
    """
    answers = {str(status): _answer(what, "Error") for status, what in ERRORS.items()}
    analysis = {
        "summary": "Analyse a text.",
        "operationId": "analyse",
        "requestBody": {"required": True, "content": _json("Request")},
        "responses": {"200": _answer("Annotations of the text.", "Analysis"), **answers},
    }
    explanation = {
        "summary": "Explain a bracket.",
        "operationId": "explain",
        "requestBody": {"required": True, "content": _json("Question")},
        "responses": {"200": _answer("Why the sentence has the bracket.", "Explanation"), **answers},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "spectralnlp serve",
            "version": spectralnlp.__version__,
            "description": "Trees, confidence, alternatives, tags and intents of a text.",
        },
        "paths": {"/analyse": {"post": analysis}, "/explain": {"post": explanation}},
        "components": {"schemas": _schemas(limits)},
    }


def _json(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _answer(description: str, schema: str) -> dict[str, Any]:
    return {"description": description, "content": _json(schema)}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with required properties and no others.

    Args:
        properties: JSON schema of each property, by name.
    """
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(schema: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}


def _array(description: str, *kinds: str) -> dict[str, Any]:
    """Return the JSON schema of a list whose values have one of several types.

    Args:
        description: what the list contains, for the reader.
        kinds: JSON names of the types, such as ``string``.
    """
    return {"type": "array", "description": description, "items": {"type": list(kinds)}}


def _value(kind: str | list[str], description: str, **others: Any) -> dict[str, Any]:
    return {"type": kind, "description": description, **others}


def _schemas(limits: Limits) -> dict[str, Any]:
    share = {"minimum": 0, "maximum": 1}
    return {
        "Request": _object(
            text=_value(
                "string",
                f"A text of at most {limits.characters:,} characters and {limits.tokens:,} tokens.",
                maxLength=limits.characters,
            )
        ),
        "Question": _object(
            words=_list_of("Word"),
            bracket=_array(
                "First token (from 0), first token after the bracket, and label.", "integer", "string"
            ),
        ),
        "Word": _value("string", "A token."),
        "Feature": _array("A feature of the span scorer or a rule, and its weight.", "string", "number"),
        "Explanation": _object(
            bracket=_array("The bracket that is explained.", "integer", "string"),
            log_odds=_value("number", "Natural logarithm of the odds under the grammar."),
            alternative=_value("string", "The best tree without the bracket, in bracket notation."),
            in_favour=_list_of("Evidence"),
            against=_list_of("Evidence"),
            features_in_favour=_list_of("Feature"),
            features_against=_list_of("Feature"),
            rules=_list_of("Feature"),
            seconds=_value("number", "Time of the explanation, in seconds."),
        ),
        "Evidence": _object(
            influence=_value("number", "How much the training tree raised the log-odds."),
            document=_value("string", "Name or number of the document of the training tree."),
            sentence=_value("integer", "Number of the training sentence in the document, from 1.", minimum=1),
            match=_array("The bracket of the training tree with the most influence.", "integer", "string"),
            rule=_value("string", "Rule of that bracket."),
            tree=_value("string", "The training tree in brackets."),
            words=_list_of("Word"),
            svg=_value("string", "Drawing of the tree, an SVG element."),
        ),
        "Error": _object(error=_value("string", "Error message, in one line.")),
        "Analysis": _object(
            sentences=_list_of("Sentence"),
            intents=_list_of("Intent"),
            out_of_scope=_value(
                ["number", "null"],
                "How little the text resembles the texts of any intent; null without a classifier.",
                **share,
            ),
            seconds=_value("number", "Time of the analysis, in seconds."),
        ),
        "Sentence": _object(
            text=_value("string", "Text of the sentence."),
            tokens=_list_of("Token"),
            constituents=_list_of("Constituent"),
            fallback=_value(["string", "null"], "Why the tree is a fallback; null if it is not."),
            trees=_list_of("Tree"),
        ),
        "Token": _object(
            text=_value("string", "Text of the token."),
            tag=_value("string", "Part-of-speech tag."),
            pos=_value("string", "Universal part-of-speech tag; empty without a tagger for it."),
            entity=_value("string", "Label of the entity that contains the token; empty if none does."),
            space=_value("boolean", "Whether a space follows."),
        ),
        "Constituent": _object(
            label=_value("string", "Label of the constituent."),
            start=_value("integer", "First token of the constituent in the sentence, from 0.", minimum=0),
            end=_value("integer", "First token after the constituent.", minimum=1),
            posterior=_value("number", "Posterior probability under the model.", **share),
        ),
        "Tree": _object(
            brackets=_value("string", "The tree in bracket notation."),
            svg=_value("string", "Drawing of the tree, an SVG element."),
            score=_value(["number", "null"], "Score of the decoder; null for the first tree."),
        ),
        "Intent": _object(
            label=_value("string", "Name of the intent."),
            score=_value("number", "Probability of the intent.", **share),
        ),
    }
