"""The models of the desk, kept in the database by the hash of their content: a case stays with the one it has."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from worthwhile.costs.error_costs import suggest
from worthwhile.evaluation.metrics import context_of
from worthwhile.file_kinds import check_model
from worthwhile.files import read_text
from worthwhile.learners.model_file import load
from worthwhile.service.database import Database, now
from worthwhile.service.event_log import append_event
from worthwhile.service.tables import models
from worthwhile.service.user_store import COMMAND_LINE
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.json_format import FORMAT, read_json
from worthwhile.tree.tree import Tree

__all__ = ["ModelStore", "ServedModel", "model_id", "read_model", "read_models"]

MAX_PATHS = 10_000  # cases whose path is kept in memory: finding it takes a forest 10 ms


@dataclass(frozen=True)
class ServedModel:
    """A model with its name and version.

    Attributes
    ----------
    id : str
        SHA-256 of name and content.
    name : str
        The file name without its ending.
    version : int
        1 for the first content under this name, then 2, …
    model : learner or Tree
    """

    id: str
    name: str
    version: int
    model: Any
    _paths: dict[Any, set[int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def context(self) -> ProblemContext:
        """The tests, classes and costs of the model."""
        return context_of(self.model)

    @property
    def trees(self) -> Sequence[Tree]:
        """Its trees; none for a cascade."""
        if isinstance(self.model, Tree):
            return (self.model,)
        tree = getattr(self.model, "tree_", None)
        return (tree,) if tree is not None else tuple(getattr(self.model, "trees_", ()))

    def asked(self, known: Mapping[str, Any]) -> set[int]:
        """Return the tests that the model, not a tree, asks a case for, as far as its results reach."""
        key = tuple(known.items())
        found = self._paths.get(key)
        if found is None:
            if len(self._paths) >= MAX_PATHS:
                self._paths.clear()
            found = self._paths[key] = self.model._asked(known)
        return found


def model_id(name: str, text: str) -> str:
    """Return the id of a model: a hash of its name and of the text of its file."""
    return hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()


def read_model(text: str) -> Any:
    """Read a saved learner or a tree from the text of its file."""
    content = read_json(text)
    if isinstance(content, dict) and content.get("format") == FORMAT:
        return Tree.from_json(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(text, encoding="utf-8")
        try:
            return load(path)
        except ValueError as error:
            raise ValueError(str(error).removeprefix(f"{path}: ")) from None


def read_models(paths: Iterable[Path]) -> dict[str, tuple[str, Any]]:
    """Return the text of model files and the models in them, by the names of the files."""
    found: dict[str, tuple[str, Any]] = {}
    for path in paths:
        check_model(path)
        text, name = read_text(path), path.name.removesuffix(".json")
        if name in found:
            raise ValueError(f"{path}: there are two models called {name!r}; rename one of the files")
        try:
            found[name] = text, read_model(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return found


class ModelStore:
    """Models in a database; those given at the start take new cases."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loaded: dict[str, ServedModel] = {}
        self._loading = threading.Lock()
        self.current: dict[str, ServedModel] = {}

    def register(self, found: Mapping[str, tuple[str, Any]]) -> None:
        """Serve what `read_models` found; a new content under an old name is a new version."""
        for name, (text, model) in found.items():
            self.current[name] = self._store(name, text, model)

    def _store(self, name: str, text: str, model: Any) -> ServedModel:
        digest = model_id(name, text)
        with self._database.write() as connection:
            row = connection.execute(sa.select(models.c.version).where(models.c.id == digest)).one_or_none()
            if row is not None:
                version = row.version
            else:
                newest = sa.select(sa.func.max(models.c.version)).where(models.c.name == name)
                version = (connection.execute(newest).scalar() or 0) + 1
                connection.execute(
                    models.insert().values(id=digest, name=name, version=version, added_at=now(), content=text)
                )
                append_event(connection, COMMAND_LINE, "model added", {"name": name, "version": version, "id": digest})
        found = self._loaded[digest] = ServedModel(digest, name, version, model)
        return found

    def by_id(self, connection: sa.Connection, model_id: str) -> ServedModel:
        """Return the model that a case began with."""
        found = self._loaded.get(model_id)
        if found is None:
            with self._loading:
                row = connection.execute(sa.select(models).where(models.c.id == model_id)).one()
                found = ServedModel(row.id, row.name, row.version, read_model(row.content))
                self._loaded[model_id] = found
        return found

    def for_new_case(self, name: str | None) -> ServedModel:
        """Return the model that a new case begins with; the name may be left out if there is only one."""
        if name is None and len(self.current) == 1:
            return next(iter(self.current.values()))
        if name not in self.current:
            what = "name a model" if name is None else f"there is no model {name!r}"
            raise ValueError(f"{what}; {suggest(str(name or ''), list(self.current))}")
        return self.current[str(name)]
