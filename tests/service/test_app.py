"""Health, and errors as JSON or as pages."""

import sqlalchemy as sa

from worthwhile import __version__


def test_health(file_client, file_desk, monkeypatch):
    assert file_client.get("/healthz").json() == {"status": "ok", "version": __version__}
    broken = sa.create_engine("sqlite:////no/such/folder/x.db")
    monkeypatch.setattr(file_desk.database, "engine", broken)
    answer = file_client.get("/healthz")
    assert answer.status_code == 503
    assert "cannot be opened" in answer.json()["detail"]


def test_errors_are_json_for_programs_and_pages_for_people(file_client):
    assert file_client.get("/api/nowhere").json() == {"detail": "Not Found"}
    page = file_client.get("/nowhere")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert file_client.post("/api/cases", content=b"{").status_code == 422
    assert file_client.delete("/api/cases").status_code == 405
