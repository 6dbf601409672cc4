"""The shapes of what the API answers, for its description in openapi.json.

Answers are not checked against them when they are sent: that would take longer than making them. The tests do it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = ["AuditHeadBody", "CaseBody", "CaseListBody", "ErasedCaseBody", "HistoryBody", "ModelsBody", "MonitoringBody"]

Label = str | int | float | bool
Amount = Field(description="In the currency of the model.")
Time = Field(description="UTC, ISO 8601.")


class ModelName(BaseModel):
    """The model that a case began with."""

    name: str
    version: int
    id: str


class PendingTest(BaseModel):
    """A test that is ordered and has no result yet."""

    test: str
    since: str = Time
    by: str
    price: float = Amount


class TestBody(BaseModel):
    """What is known about one test; one that nobody touched has its name and state only."""

    __test__ = False  # not a class of tests for pytest

    test: str
    state: Literal["not asked", "ordered", "result in", "unavailable"]
    ordered_at: str | None = None
    ordered_by: str | None = None
    value: Label | None = None
    result_at: str | None = None
    result_by: str | None = None
    why: str = Field("", description="Why it is unavailable, or was corrected.")
    given: bool = Field(False, description="Known when the case was opened.")
    earlier: list[Label | None] = Field(default=[], description="Values before corrections.")
    price: float | None = None


class LedgerLine(BaseModel):
    """What a test cost when it was ordered."""

    test: str
    price: float = Amount
    time: str = Time
    by: str
    given: bool
    extras: list[str] = Field(description="Surcharges and waits in the price, in words.")


class ShortAdvice(BaseModel):
    """What to do next, as a list shows it."""

    test: str | None = Field(description="The next test; null: answer.")
    price: float = Field(description="Of all that is to be ordered now.")
    order: dict[str, float] = Field(description="What is to be ordered now, with prices.")
    answer: Label | None


class AdviceBody(ShortAdvice):
    """What to do next, and why."""

    extras: dict[str, list[str]]
    commits: list[str] = Field(description="What is ordered together with the test.")
    delayed: bool
    waits: Any
    waiting_for: str | None
    probabilities: dict[str, float] = Field(description="Class shares.")
    stop_answer: Label | None
    stop_cost: float | None = Field(description="Expected cost of errors of answering now.")
    go_on_cost: float | None = Field(description="Expected cost of going on as advised.")
    gain: float | None
    reason: str


class NoteLine(BaseModel):
    """A note on a case."""

    time: str = Time
    by: str
    text: str


class ShortCase(BaseModel):
    """A case in a list."""

    id: str
    case_number: str
    model: ModelName
    version: int
    state: Literal["open", "waiting", "answered", "closed"]
    opened_at: str = Time
    changed_at: str = Time
    pending: list[PendingTest]
    spent: float = Amount
    answer: Label | None = Field(description="As it was closed, or as it is advised.")
    advice: ShortAdvice


class CaseBody(ShortCase):
    """A case."""

    opened_by: str
    changed_by: str
    closed_at: str | None
    known: dict[str, Label] = Field(description="Results by test.")
    unavailable: dict[str, str] = Field(description="Unavailable tests, and why.")
    tests: list[TestBody]
    ledger: list[LedgerLine]
    currency: str
    advice: AdviceBody
    notes: list[NoteLine]
    truth: Label | None
    error_cost: float | None = Field(description="Of the answer, once the truth is known.")
    actual_cost: float | None = Field(description="Tests and error, once the truth is known.")
    can_undo: str | None = Field(description="The last change, which can be taken back.")


class ErasedCaseBody(BaseModel):
    """What is left of a case that was erased."""

    id: str
    version: int
    state: Literal["erased"]


class CaseListBody(BaseModel):
    """A page of cases."""

    cases: list[ShortCase | ErasedCaseBody]
    total: int
    page: int
    pages: int


class EventLine(BaseModel):
    """A change of a case."""

    seq: int
    time: str = Time
    actor: str
    action: str
    content: dict[str, Any]


class HistoryBody(BaseModel):
    """Everything that is stored about a case."""

    case: CaseBody | ErasedCaseBody
    events: list[EventLine]


class ModelTest(BaseModel):
    """A test of a model."""

    test: str
    kind: Literal["date", "numeric", "nominal"]
    values: list[str] | None
    price: float = Field(description="If it is the first one, with what it requires.")


class ModelLine(ModelName):
    """A model that takes new cases."""

    tests: list[ModelTest]
    classes: list[Label]
    currency: str


class ModelsBody(BaseModel):
    """All models that take new cases."""

    models: list[ModelLine]


class MonitoringLine(BaseModel):
    """What is known about one version of a model."""

    name: str
    version: int
    currency: str
    n_cases: int
    n_closed: int
    measured: list[float] | None = Field(description="Expected cost of a new case, with its interval, in training.")
    checks: list[dict[str, Any]] = Field(description="Expected and actual cost by week, then of all.")
    drift: list[dict[str, Any]]
    drift_note: str
    spending: list[dict[str, Any]] = Field(description="By week and test.")
    by_test: list[list[Any]] = Field(description="Test, number of orders, spent.")


class MonitoringBody(BaseModel):
    """How the models do."""

    models: list[MonitoringLine]


class AuditHeadBody(BaseModel):
    """The end of the log."""

    events: int
    head: str
