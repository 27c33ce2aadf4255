"""The JSON interface of ``spectralnlp serve``, described in OpenAPI."""

from __future__ import annotations

from typing import Any

from spectralnlp_web import FAILED, NOT_MEANT

import spectralnlp
from spectralnlp_spacy.serve.limits import Limits

# What each status of an error means.
ERRORS = {
    400: "The request is no HTTP, or its body is no JSON.",
    403: NOT_MEANT,
    404: "There is nothing at this path.",
    405: "The path does not take this method.",
    408: "The body did not come in time.",
    413: "The body, or the text, is too long: bytes, characters or tokens.",
    415: "The body is not said to be `application/json` in UTF-8.",
    422: "The JSON does not have the fields that are asked for, or the question has no answer.",
    500: FAILED,
    503: "All workers are busy and the queue is full, or no worker was free in time; try again later.",
    504: "The analysis took too long, and was stopped.",
}


def describe_interface(limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI document of a server.

    Args:
        limits: of the server.
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
    """An object that has all of some properties, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(schema: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}


def _array(description: str, *kinds: str) -> dict[str, Any]:
    """A list of values of some kinds."""
    return {"type": "array", "description": description, "items": {"type": list(kinds)}}


def _value(kind: str | list[str], description: str, **others: Any) -> dict[str, Any]:
    return {"type": kind, "description": description, **others}


def _schemas(limits: Limits) -> dict[str, Any]:
    share = {"minimum": 0, "maximum": 1}
    return {
        "Request": _object(
            text=_value(
                "string",
                f"Any text, of at most {limits.characters:,} characters and {limits.tokens:,} tokens.",
                maxLength=limits.characters,
            )
        ),
        "Question": _object(
            words=_list_of("Word"),
            bracket=_array("First token, from 0, first token after it, and label.", "integer", "string"),
        ),
        "Word": _value("string", "A token."),
        "Feature": _array("A feature of the span scorer, in words, and its weight.", "string", "number"),
        "Explanation": _object(
            bracket=_array("What was asked about.", "integer", "string"),
            log_odds=_value("number", "Natural logarithm of the odds under the grammar."),
            alternative=_value("string", "The best tree without it, in brackets."),
            in_favour=_list_of("Evidence"),
            against=_list_of("Evidence"),
            features_in_favour=_list_of("Feature"),
            features_against=_list_of("Feature"),
            seconds=_value("number", "Time that it took, in seconds."),
        ),
        "Evidence": _object(
            influence=_value("number", "By how much the training tree raised the log-odds."),
            document=_value("string", "Name or number of its document."),
            sentence=_value("integer", "Its number in the document, from 1.", minimum=1),
            match=_array("The bracket of it that did most.", "integer", "string"),
            rule=_value("string", "Rule of that bracket."),
            tree=_value("string", "The training tree in brackets."),
            words=_list_of("Word"),
            svg=_value("string", "A drawing of it."),
        ),
        "Error": _object(error=_value("string", "What was wrong, in one line.")),
        "Analysis": _object(
            sentences=_list_of("Sentence"),
            intents=_list_of("Intent"),
            out_of_scope=_value(
                ["number", "null"],
                "How little the text looks like any intent, or null.",
                **share,
            ),
            seconds=_value("number", "Time that the models took, in seconds."),
        ),
        "Sentence": _object(
            text=_value("string", "The sentence as it stands in the text."),
            tokens=_list_of("Token"),
            constituents=_list_of("Constituent"),
            fallback=_value(["string", "null"], "Why the tree is a fallback; null if it is none."),
            trees=_list_of("Tree"),
        ),
        "Token": _object(
            text=_value("string", "The token."),
            tag=_value("string", "Its tag."),
            pos=_value("string", "Its universal part of speech; empty without a model for these."),
            entity=_value("string", "Label of the entity that it is in; empty if it is in none."),
            space=_value("boolean", "Whether a blank follows."),
        ),
        "Constituent": _object(
            label=_value("string", "Label of the constituent."),
            start=_value("integer", "First token in the sentence, from 0.", minimum=0),
            end=_value("integer", "First token after it.", minimum=1),
            posterior=_value("number", "Probability under the model.", **share),
        ),
        "Tree": _object(
            brackets=_value("string", "The tree in brackets."),
            svg=_value("string", "A drawing of it."),
            score=_value(["number", "null"], "The decoder's gain; null for the tree of the document."),
        ),
        "Intent": _object(
            label=_value("string", "The intent."), score=_value("number", "Its probability.", **share)
        ),
    }
