"""``spectralnlp warm-up``: compile kernels in advance, once for an installation or an image."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer


def warm_up(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...", help="Names or folders; by default all models that are installed."
        ),
    ] = None,
    training: Annotated[
        bool,
        typer.Option("--training", help="Also what training needs: each estimator learns a made-up text."),
    ] = False,
    ship: Annotated[
        bool,
        typer.Option(
            "--ship",
            help="Write kernels for any x86-64 processor with AVX2 into the package, of which a wheel is "
            "then built that compiles nothing.",
        ),
    ] = False,
) -> None:
    """Compile the kernels (machine code) that models need, once for an installation or a container image.

    The compiled kernels are stored in the folder of the package, where all users share them. If that folder
    is not writable, they are stored in the cache of the user. The environment variable NUMBA_CACHE_DIR names
    another folder.
    """
    from spectralnlp import registry
    from spectralnlp.jit import compile_for_wheels

    if ship:
        compile_for_wheels()
    for name in models or registry.models.bare_names():
        _report(name, _try_out, name)
    if not training:
        return
    with TemporaryDirectory() as folder:
        for name in (*registry.estimators.bare_names(), *registry.featurizers.bare_names()):
            _report(f"train {name}", _try_training, name, Path(folder))


def _report(what: str, step: Callable[..., None], *arguments: Any) -> None:
    """Run a step of the warm-up, and print the number of kernels compiled and the time taken.

    Args:
        what: name of the step in the output.
        step: function to run.
        arguments: arguments of ``step``.
    """
    from time import perf_counter

    from spectralnlp.cli.console import progress
    from spectralnlp.jit import compiled_kernels

    started = perf_counter()
    with compiled_kernels() as kernels, progress(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sample may be too small for an estimator's defaults
        step(*arguments)
    seconds = perf_counter() - started
    done = f"{len(kernels)} kernels compiled, {seconds:.1f} s" if kernels else "ready"
    print(f"{what}: {done}", flush=True)


def _try_out(name: str | Path) -> None:
    from spectralnlp import load, registry

    model = load(name)
    registry.tasks.get(model.task)().warm_up(model)


def _try_training(name: str, folder: Path) -> None:
    """Train, save and load a model, to compile the kernels for it.

    A loaded model may need other kernels than a freshly trained one.

    Args:
        name: name of the estimator.
        folder: folder for the model.
    """
    from spectralnlp import registry, train

    estimator = registry.estimators.get(name)
    task = registry.tasks.get(estimator.task)()
    saved = folder / "model"
    model = train(estimator, task.write_sample(folder))
    task.warm_up(model)
    model.save(saved, overwrite=True)
    _try_out(saved)
