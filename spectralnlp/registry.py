"""Registries of named, versioned plugins, found by entry points without importing them.

A package registers ``pcfg.v1`` by an entry point of that name in the group ``spectralnlp.estimators``; a
script or a test uses the decorator ``@registry.estimators.register("pcfg.v1")``. A bare name, ``pcfg``, means
the highest version. Names are listed from metadata alone; `Registry.get` imports only the requested object.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Literal, TypeVar, cast

from spectralnlp.errors import RegistryError, is_out_of_memory

T = TypeVar("T")
_HERE = "this process"
Status = Literal["ok", "not installed", "broken"]


@dataclass(frozen=True)
class Entry:
    """A registered name and its status.

    Args:
        registry: kind of the registry, such as ``estimators``.
        name: full name, such as ``pcfg.v1``.
        distribution: package and version that registered the name, or ``this process``.
        status: ``ok``; ``not installed`` if a required extra is missing; ``broken`` if the object cannot be
            imported or two packages claim the name.
        reason: why the status is not ok, and what to do; empty otherwise.
        value: where the object is defined, ``package.module:name``; empty if it was registered in this
            process.
    """

    registry: str
    name: str
    distribution: str
    status: Status = "ok"
    reason: str = ""
    value: str = ""

    @property
    def version(self) -> int:
        """Version number after ``.v``; 0 for a name without a version."""
        return _split(self.name)[1]


class Registry:
    """Registered objects of one kind, by name.

    Args:
        kind: kind of the objects; ``estimators`` means the entry-point group ``spectralnlp.estimators``.
        install: what to install if nothing is registered; it is shown as the hint of an error. Empty if the
            package itself registers some objects.
        narrower: a registry of a more specific kind. Its objects can also be looked up in this registry, but
            `names` does not list them.
    """

    def __init__(self, kind: str, install: str = "", narrower: Registry | None = None) -> None:
        self.kind, self.install, self.narrower = kind, install, narrower
        self._local: dict[str, Any] = {}
        self._loaded: dict[str, Any] = {}  # cache of `get`, since reading metadata takes milliseconds

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers an object under a name in this process.

        Raises:
            RegistryError: the name is already taken.
        """

        def decorate(plugin: T) -> T:
            taken = [_distribution(point) for point in self._claims(name)]
            if name in self._local and _identity(self._local[name]) != _identity(plugin):
                taken.append(_HERE)
            if taken:
                raise RegistryError(f"{self._called(name)} is already registered by {' and '.join(taken)}")
            self._local[name] = plugin
            self._loaded.clear()
            return plugin

        return decorate

    def names(self) -> list[str]:
        """Return all full names, sorted; imports nothing."""
        return sorted({*self._local, *(point.name for point in self._points())}, key=_split)

    def bare_names(self) -> list[str]:
        """Return all names without their versions, sorted; imports nothing."""
        return sorted({_split(each)[0] for each in self.names()})

    def shown(self, name: str) -> str:
        """Return the shortest name that users can give for a full name.

        This is the bare name if the full name is the newest version, and else the full name.
        """
        bare = _split(name)[0]
        return name if self._candidates(bare)[-1:] not in ([name], []) else bare

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return bool(self._candidates(name)) or (self.narrower is not None and name in self.narrower)

    def resolve(self, name: str) -> str:
        """Return the full name that a full or bare name stands for; imports nothing.

        Raises:
            RegistryError: the name is unknown; the hint gives similar names.
        """
        candidates = self._candidates(name)
        if candidates:
            return candidates[-1]
        if self.narrower is not None and name in self.narrower:
            return self.narrower.resolve(name)
        known = self.names() + (self.narrower.names() if self.narrower else [])
        bare = sorted({_split(each)[0] for each in known})
        close = difflib.get_close_matches(name, known if _split(name)[1] else bare)
        there = f"there are {', '.join(bare)}" if bare else self.install or "there are none"
        hint = f"did you mean {' or '.join(close)}?" if close else there
        raise RegistryError(f"no {self._singular()} is called {name!r}", hint=hint)

    def get(self, name: str) -> Any:
        """Return the object that a full or bare name stands for; imports no other object.

        Raises:
            RegistryError: the name is unknown, claimed twice, not installed or broken; the message says
                which.
        """
        if self.narrower is not None and name in self.narrower and not self._candidates(name):
            return self.narrower.get(name)
        if name not in self._loaded:
            full = self.resolve(name)
            entry, plugin = self._load(full)
            if entry.status != "ok":
                what = f"{self._called(full)} of {entry.distribution} is {entry.status}"
                raise RegistryError(f"{what}: {entry.reason}")
            self._loaded[name] = plugin
        return self._loaded[name]

    def _forget(self) -> None:
        """Forget loaded objects, so that names are looked up in the metadata again."""
        self._loaded.clear()

    def describe(self, *, load: bool = False) -> list[Entry]:
        """Return an `Entry` with the status of each registered name.

        Args:
            load: also try to import each object; otherwise only metadata is read, and ``ok`` means that the
                metadata show no problem.
        """
        return [self._load(name)[0] if load else self._inspect(name) for name in self.names()]

    def _points(self) -> list[EntryPoint]:
        return list(_group(f"spectralnlp.{self.kind}"))

    def _claims(self, name: str) -> list[EntryPoint]:
        return [point for point in self._points() if point.name == name]

    def _candidates(self, name: str) -> list[str]:
        return [full for full in self.names() if name in (full, _split(full)[0])]

    def _called(self, name: str) -> str:
        return f"{self._singular()} {self.shown(name)!r}"

    def _singular(self) -> str:
        return self.kind.removesuffix("es" if self.kind.endswith("ches") else "s").replace("_", " ")

    def _inspect(self, name: str) -> Entry:
        """Return an `Entry` with the status of a name according to metadata alone."""
        points = self._claims(name)
        owners = sorted(_distribution(point) for point in points) + [_HERE] * (name in self._local)
        status, reason = _missing_extras(points[0]) if points else ("ok", "")
        if len(owners) > 1:
            status, reason = "broken", f"claimed by {' and by '.join(owners)}; keep one of them"
        value = points[0].value.partition(" ")[0] if points else ""
        return Entry(self.kind, name, ", ".join(owners), status, reason, value)

    def _load(self, name: str) -> tuple[Entry, Any]:
        entry = self._inspect(name)
        if entry.status != "ok":
            return entry, None
        if name in self._local:
            return entry, self._local[name]
        (point,) = self._claims(name)
        try:
            return entry, point.load()
        # Importing a plugin can fail in any way, even by exiting; the program has to survive that.
        except (Exception, SystemExit) as error:
            if is_out_of_memory(error):  # not the plugin's fault
                raise MemoryError("for what has to be loaded") from error
            reason = f"loading {point.value} failed: {type(error).__name__}: {error}"
            return Entry(self.kind, name, entry.distribution, "broken", " ".join(reason.split())), None


def _split(name: str) -> tuple[str, int]:
    """Split a full name into bare name and version; the version of a bare name is 0."""
    match = re.fullmatch(r"(.+)\.v(\d{1,9})", name)
    return (match[1], int(match[2])) if match else (name, 0)


def _identity(plugin: object) -> tuple[object, ...]:
    # A class defined again under the same name (a reloaded module, a notebook cell) replaces the old one.
    if hasattr(plugin, "__qualname__"):
        return (plugin.__module__, plugin.__qualname__)
    return (id(plugin),)


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"


def _missing_extras(point: EntryPoint) -> tuple[Status, str]:
    """Check that the packages of an entry point's extras (``module:attr [spacy]``) are installed.

    Returns:
        The status, ``ok`` if they are; and a text that says what is missing or wrong, empty if the status is
        ``ok``.
    """
    if point.dist is None:
        return "ok", ""
    for extra in point.extras:
        if extra not in point.dist.metadata.get_all("Provides-Extra", []):
            return "broken", f"{point.dist.name} declares no extra {extra!r}"
        try:
            missing = sorted({need for need in _requirements(point.dist, extra) if not _installed(need)})
        except ValueError as error:
            return "broken", f"unreadable requirements: {error}"
        if missing:
            install = f'pip install "{point.dist.name}[{extra}]"'
            return "not installed", f"needs {', '.join(missing)}; {install}"
    return "ok", ""


def _requirements(distribution: importlib.metadata.Distribution, extra: str) -> Iterator[str]:
    """Yield the names of the packages that an extra requires on this platform."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    for requirement in map(Requirement, distribution.requires or []):
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}) or not marker.evaluate({"extra": extra}):
            continue
        if canonicalize_name(requirement.name) == canonicalize_name(distribution.name):
            for nested in requirement.extras:
                yield from _requirements(distribution, nested)
        else:
            yield requirement.name


def _installed(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


@cache
def _entry_points() -> importlib.metadata.EntryPoints:
    # Python 3.11 wraps them for older callers; the methods used here are the same.
    return cast(importlib.metadata.EntryPoints, importlib.metadata.entry_points())


@cache
def _group(name: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, cached because selecting them takes milliseconds."""
    return tuple(_entry_points().select(group=name))


def refresh() -> None:
    """Read the metadata of installed packages again, after an installation or a change of ``sys.path``."""
    importlib.invalidate_caches()
    _entry_points.cache_clear()
    _group.cache_clear()
    for registry in registries.values():
        registry._forget()


registries: dict[str, Registry] = {}


def _registry(kind: str, install: str = "", narrower: Registry | None = None) -> Registry:
    registries[kind] = Registry(kind, install, narrower)
    return registries[kind]


featurizers = _registry("featurizers")
estimators = _registry("estimators", narrower=featurizers)
sketches = _registry("sketches")
readers = _registry("readers")
decoders = _registry("decoders")
engines = _registry("engines")
filesystems = _registry("filesystems")
tasks = _registry("tasks")
commands = _registry("commands")
models = _registry("models")
# Folders with the kept moments of installed models, which are distributed separately.
moments = _registry("moments")
# Languages whose models are separate distributions, in folders of that name in grammars/.
LANGUAGES = ("fo", "fr", "id", "is", "ja", "nl")
# Modules of functions.
tree_tools = _registry("tree_tools", "they are in spectralnlp_trees: pip install spectralnlp")


def how_to_install(model: str) -> str | None:
    """Return how to install a model such as ``ja`` or ``is-tagger``; None if no separate package has it.

    The language of a model is the part of its name before the first hyphen. There are separate
    packages for the models of the languages in `LANGUAGES`.
    """
    language = model.partition("-")[0]
    if language not in LANGUAGES:
        return None
    return f"pip install ./grammars/{language}, in a clone of spectralnlp's repository"
