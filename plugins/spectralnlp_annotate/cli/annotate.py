"""Command ``spectralnlp annotate``: correct trees in the browser while the parser learns from them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from spectralnlp import Parser


class Order(StrEnum):
    """Order in which sentences are presented: by expected gain for the parser, or as in the file."""

    GAIN = "gain"
    FILE = "file"


def annotate(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="TEXT...", help="Texts to annotate (UTF-8), or trees to correct (.mrg)."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder for trees and journals; existing work there is continued.",
        ),
    ],
    model: Annotated[
        str,
        typer.Option(metavar="NAME|PATH", help='Parser to start with, or "none" to start without one.'),
    ] = "en",
    tokenized: Annotated[
        bool,
        typer.Option("--tokenized", help="Texts have one sentence per line, with spaces between tokens."),
    ] = False,
    order: Annotated[
        Order,
        typer.Option(help="Next sentence: the one the parser learns most from, or the next in the file."),
    ] = Order.GAIN,
    every: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of accepted sentences after which the parser learns again."
        ),
    ] = 5,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
    ] = 8001,
) -> None:
    """Correct trees in the browser, by keyboard; the page is served to this machine only."""
    from spectralnlp_web import LoopbackServer

    from spectralnlp.cli.console import note
    from spectralnlp.trees.readers.recognition import changes_of
    from spectralnlp_annotate.application import make_application
    from spectralnlp_annotate.background import Background
    from spectralnlp_annotate.documents import TREES
    from spectralnlp_annotate.project import Project, plain_tokenizer, read_texts
    from spectralnlp_annotate.session import Session
    from spectralnlp_annotate.training import NO_MODEL, flat_parser

    loaded = None if model == NO_MODEL else _loaded(model)
    contents = read_texts(texts)
    project = Project(output)
    tokenizer = plain_tokenizer(contents) if loaded is None else loaded.tokenizer
    project.add(contents, tokenizer, tokenized=tokenized)
    for remark in changes_of([each.path for each in contents if each.path.suffix == TREES]):
        note(remark)
    for remark in (each for document in project.documents for each in document.remarks):
        note(remark)
    parser = loaded or flat_parser(sentence.words for document in project.documents for sentence in document)
    parser.parse_tokens(["It", "is"])  # compiles kernels now, if necessary, so that no user has to wait
    session = Session(project, parser, order.value)
    background = Background(session, model, every)
    server = LoopbackServer(port)

    def announce() -> None:
        print(server.address, flush=True)
        note("stop with Ctrl-C; all accepted trees are saved")

    try:
        application = make_application(session, background)
        server.run(application, background.start, announce, background.stop)
    except KeyboardInterrupt:
        note("stopped")
    finally:
        project.close()


def _loaded(model: str) -> Parser:
    """Load a parser, given the name of an installed model or a model folder."""
    import spectralnlp
    from spectralnlp.errors import ConfigError

    parser = spectralnlp.load(model)
    if not isinstance(parser, spectralnlp.Parser):
        raise ConfigError(f"{model} is not a parser", hint="name a parser with `model`")
    return parser
