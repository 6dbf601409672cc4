"""The description of the API: every answer has a shape, and real answers have it."""

import pytest
from pydantic import TypeAdapter

from worthwhile.service.answers import (
    AuditHeadBody,
    CaseBody,
    CaseListBody,
    ErasedCaseBody,
    HistoryBody,
    ModelsBody,
    MonitoringBody,
)


def fits(shape, answer):
    """Check an answer: it has the shape, and nothing that the shape does not name."""
    found = TypeAdapter(shape).validate_python(answer, strict=True).model_dump(exclude_unset=True)
    assert found == answer


@pytest.fixture
def described(file_client):
    return file_client.get("/openapi.json").json()


def test_every_answer_is_described(described):
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            for status, answer in call["responses"].items():
                if path.startswith("/api") and status.startswith("2") and status != "204":
                    schema = answer["content"]["application/json"]["schema"]
                    assert "$ref" in schema or "anyOf" in schema, f"{method} {path}"


def test_all_references_lead_somewhere(described):
    def references(part):
        if isinstance(part, dict):
            yield from [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            part = list(part.values())
        for inner in part if isinstance(part, list) else []:
            yield from references(inner)

    known = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert set(references(described)) <= known


def test_the_description_is_valid(described):
    pytest.importorskip("openapi_spec_validator").validate(described)


def test_tokens_are_described(described):
    ((name, scheme),) = described["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            needs = path.startswith("/api") or (path.startswith("/cds-services") and method == "post")
            assert call.get("security", []) == ([{name: []}] if needs else []), f"{method} {path}"


def test_real_answers_have_their_shape(file_client):
    case = file_client.new("Miller", age=63)
    fits(CaseBody, case)
    case = file_client.act(case, "results", results={"scan": "clear"})
    case = file_client.act(case, "corrections", test="scan", value="spot", why="mixed up")
    case = file_client.act(case, "orders", tests=["chol", "sugar"])
    fits(CaseBody, case)
    case = file_client.act(case, "results", results={"chol": None}, reasons={"chol": "no blood"})
    fits(CaseBody, file_client.act(case, "notes", text="called the ward"))
    case = file_client.call(f"/cases/{case['id']}/close", {"truth": "sick"})
    fits(CaseBody, case)
    fits(HistoryBody, file_client.call(f"/cases/{case['id']}/history"))
    fits(ModelsBody, file_client.call("/models"))
    fits(MonitoringBody, file_client.call("/monitoring"))
    fits(AuditHeadBody, file_client.call("/audit/head"))
    erased = file_client.new("Smith")
    file_client.call(f"/cases/{erased['id']}/erase", {}, 204)
    fits(ErasedCaseBody, file_client.call(f"/cases/{erased['id']}"))
    fits(CaseListBody, file_client.call("/cases"))
