"""docs/extending.md: every package of the page is installed, checked and used as the page says."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from spectralnlp import InMemoryCorpus, load, read_treebank, registry
from spectralnlp.estimators.parser.parsers import PCFGParser
from spectralnlp.models import components
from spectralnlp.tasks.parsing import ParsingTask

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
PACKAGES = ROOT / "examples" / "extending"
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", re.DOTALL)
PACKAGE = re.compile(r"\]\(\.\./examples/extending/([\w-]+)\)")
CONSOLE = re.compile(r"<!-- run -->\n```console\n(.*?)```\n", re.DOTALL)
COMPONENT = re.compile(r"<!-- component: (\S+) -->\n```python\n(.*?)```\n", re.DOTALL)
PROGRAM = "#!{python}\nimport sys\nfrom spectralnlp.cli import main\nsys.exit(main())\n"


def sections() -> Mapping[str, str]:
    """The parts of the page that hold a package, by heading."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    return {part.splitlines()[0]: part for part in parts[1:] if files_of(part)}


def files_of(section: str) -> dict[str, str]:
    """The files of a section's package, on the page or in the folder that it links."""
    files = dict(FILE.findall(section))
    for name in PACKAGE.findall(section):
        paths = [path for path in (PACKAGES / name).rglob("*") if path.suffix in (".py", ".toml")]
        files |= {path.relative_to(PACKAGES / name).as_posix(): path.read_text() for path in paths}
    return files


def test_every_package_of_the_examples_is_on_the_page() -> None:
    assert set(PACKAGE.findall(PAGE.read_text())) == {path.name for path in PACKAGES.iterdir()}


@pytest.fixture(params=sections())
def section(request: pytest.FixtureRequest) -> str:
    return sections()[request.param]


@pytest.fixture
def site(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the section's package, laid out as pip would; on ``sys.path``."""
    site = tmp_path / "site"
    files = files_of(section)
    for name, source in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(source)
    project = tomllib.loads(files["pyproject.toml"])["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    header = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(header)
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.syspath_prepend(str(site / "tests"))
    registry.refresh()
    yield site
    monkeypatch.undo()
    registry.refresh()
    for path in site.rglob("*.py"):
        sys.modules.pop(path.stem, None)


def test_each_package_registers_one_name(site: Path) -> None:
    (point,) = (each for package in distributions(path=[str(site)]) for each in package.entry_points)
    kind = point.group.removeprefix("spectralnlp.")
    if kind == point.group:  # spaCy's, which takes a name once a process
        assert find_spec(point.module) is not None
    else:
        assert registry.registries[kind].get(point.name) is not None


def test_the_checks_of_the_page_pass(site: Path) -> None:
    for path in (site / "tests").glob("test_*.py") if (site / "tests").exists() else ():
        module = importlib.import_module(path.stem)
        tests = [each for name, each in vars(module).items() if name.startswith("test_")]
        assert tests
        for test in tests:
            test()


@pytest.mark.slow
def test_the_commands_of_the_page_work(section: str, site: Path, tmp_path: Path, own_corpora: Path) -> None:
    (tmp_path / "corpora").symlink_to(own_corpora)
    program = tmp_path / "bin" / "spectralnlp"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    python = program.with_name("python")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    commands = [
        line.removeprefix("$ ")
        for block in CONSOLE.findall(section)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    assert commands
    for command in commands:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout or ">" in command


def test_every_module_of_the_page_has_a_docstring() -> None:
    for text in sections().values():
        for name, source in files_of(text).items():
            if name.endswith(".py"):
                compile(source, name, "exec")
                assert name.startswith("tests/") or source.startswith('"""')


def test_the_component_of_the_page_is_learned_and_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_corpora: Path
) -> None:
    for name, source in COMPONENT.findall(PAGE.read_text(encoding="utf-8")):
        module = ModuleType(name.removesuffix(".py").replace("/", "."))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(source, name, "exec"), module.__dict__)
    counting = sys.modules["spectralnlp.estimators.parser.lengths"]
    value = sys.modules["spectralnlp.parameters.lengths"]
    readers = {**components._READERS, "lengths": value.SentenceLengths.from_arrays}
    monkeypatch.setattr(components, "_READERS", readers)

    class Trainer(PCFGParser):
        parts = (*PCFGParser.parts, counting.LengthCounting)

    corpus = InMemoryCorpus(list(read_treebank(own_corpora / "treebank" / "dev.mrg")))
    parser = ParsingTask().train(Trainer(lengths=True), corpus)
    parser.save(tmp_path / "model")
    assert load(tmp_path / "model").components["lengths"].counts.sum() == 30
