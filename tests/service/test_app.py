"""Health, and errors as JSON or as pages."""

import logging

import pytest
import sqlalchemy as sa

from worthwhile import __version__


def test_health(file_client, file_desk, monkeypatch):
    assert file_client.get("/healthz").json() == {"status": "ok", "version": __version__}
    broken = sa.create_engine("sqlite:////no/such/folder/x.db")
    monkeypatch.setattr(file_desk.database, "engine", broken)
    answer = file_client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "the file cannot be opened; is the folder there, and may it be written?"


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/api/cases", "/cds-services/heart/feedback"])
def test_strangers_are_told_nothing_about_the_database(file_client, file_desk, monkeypatch, caplog, path):
    pytest.importorskip("psycopg", reason="needs psycopg (pip install 'psycopg[binary]')")
    away = sa.create_engine("postgresql+psycopg://clerk:secret@127.0.0.1:1/cases?connect_timeout=2")
    monkeypatch.setattr(file_desk.database, "engine", away)
    monkeypatch.setattr(file_desk.database, "shown", "postgresql://clerk:***@127.0.0.1:1/cases")
    with caplog.at_level(logging.ERROR, "worthwhile"):
        answer = file_client.post(path, json={}) if "feedback" in path else file_client.get(path)
    assert (answer.status_code, answer.json()["detail"]) == (503, "the database is out of reach")
    assert "postgresql://clerk:***@127.0.0.1:1/cases" in caplog.text
    assert "secret" not in caplog.text


def test_errors_are_json_for_programs_and_pages_for_people(file_client):
    assert file_client.get("/api/nowhere").json() == {"detail": "Not Found"}
    page = file_client.get("/nowhere")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page." in page.text
    assert '<a href="/">Back to the worklist</a>' in page.text
    assert file_client.post("/api/cases", content=b"{").status_code == 422
    assert file_client.delete("/api/cases").status_code == 405
