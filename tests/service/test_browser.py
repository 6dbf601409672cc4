"""The desk in Chromium: a case with a delayed order, a correction, two people, a restart; keyboard, phone, print."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import httpx
import pytest

from clinic import clinic_desk, write_model
from worthwhile.service.user_store import User

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install playwright)")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")


def worthwhile(folder, *arguments):
    command = [sys.executable, "-m", "worthwhile", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@contextlib.contextmanager
def serving(folder, port=0):
    """Run `worthwhile serve` as a program of its own; yield its address."""
    command = [sys.executable, "-m", "worthwhile", "serve", "heart.json", "--port", str(port)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            address = re.search(r"http://\S+?(?=,)", server.stdout.readline()).group(0)
            for _ in range(500):
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"{address}/healthz").status_code == 200:
                        break
                time.sleep(0.02)
            yield address
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(15) == 130


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def folder(tmp_path):
    write_model(tmp_path)
    return tmp_path


@pytest.fixture
def person(browser, folder):
    """A function that opens a browser of their own for somebody and logs them in; nothing may go wrong in it."""
    opened = []

    def log_in(address, name, **settings):
        token = worthwhile(folder, "users", "add", name, "--role", "work")
        context = browser.new_context(base_url=address, **settings)
        page = context.new_page()
        page.set_default_timeout(15_000)
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto("/")
        page.get_by_label("Your token").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name="Worklist").wait_for()
        opened.append((context, complaints))
        return page

    yield log_in
    for context, complaints in opened:
        # Chromium reports a conflict (409) and a page that found no server during the restart; nothing else may be.
        assert [c for c in complaints if "409" not in c and "net::ERR_" not in c] == []
        context.close()


def heading(page, text):
    page.get_by_role("heading", name=text).wait_for()


def open_case(page, number, age):
    page.wait_for_load_state()  # the shortcuts are there
    page.keyboard.press("n")
    page.get_by_label("Case number").fill(number)
    page.get_by_label("age", exact=True).fill(str(age))
    page.get_by_role("button", name="Open the case").first.click()


def test_a_case_over_two_days_with_a_restart_a_correction_and_a_conflict(folder, person):
    with serving(folder) as address:
        ana = person(address, "ana")
        open_case(ana, "A-17", 63)
        heading(ana, "Next: scan for 40.00")
        ana.locator("#results select").first.select_option("clear")
        ana.get_by_role("button", name="Save results").click()
        heading(ana, "Answer: well")
        # The radiologist has mixed up two pictures: a correction, which stays visible.
        ana.locator("#known tr", has_text="scan").get_by_text("Correct", exact=True).first.click()
        row = ana.locator("#known tr", has_text="scan")
        row.get_by_label("right value of scan").select_option("spot")
        row.get_by_placeholder("why?").fill("pictures mixed up")
        row.get_by_role("button", name="Correct").click()
        heading(ana, "Next: chol for 12.00")
        assert "was clear" in ana.locator("#known").inner_text()
        ana.wait_for_load_state()
        ana.keyboard.press("o")
        ana.keyboard.press("Enter")  # the button that has the focus
        heading(ana, "Waiting for chol")
        assert "Spent 53.00" in " ".join(ana.locator("#ledger").inner_text().split())
        case = ana.url
        port = int(address.rsplit(":", 1)[1])
    # The server is stopped for the night. The next day it runs again; both are still logged in.
    with serving(folder, port):
        bob = person(address, "bob")
        bob.get_by_label("Case number").fill("17")
        bob.get_by_role("button", name="Show").click()
        assert re.search("chol (just now|for )", bob.locator("main").inner_text())
        bob.get_by_role("link", name="A-17").click()
        heading(bob, "Waiting for chol")
        ana.goto(case)
        # Both have the page open. Ana enters one result, Bob the other: he is told, and nothing of his is lost.
        ana.get_by_label("sugar", exact=True).fill("7")
        ana.get_by_role("button", name="Save results").click()
        ana.locator("#known", has_text="sugar").wait_for()
        bob.get_by_label("chol", exact=True).fill("180")
        bob.get_by_role("button", name="Save results").click()
        bob.get_by_role("alert").filter(has_text="changed by ana in the meantime").wait_for()
        assert bob.get_by_label("chol", exact=True).input_value() == "180"
        bob.get_by_role("button", name="Save results").click()
        heading(bob, "Answer: sick")
        assert "Spent 53.00" in " ".join(bob.locator("#ledger").inner_text().split())  # nothing is charged twice
        bob.locator("#close").get_by_label("Outcome").select_option("sick")
        bob.get_by_role("button", name="Close").click()
        heading(bob, "Closed: sick")
        # Ana's page notices by itself.
        ana.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        ana.locator("#changed").wait_for()
    assert "the chain is whole" in worthwhile(folder, "audit", "cases.db")


def test_without_javascript_on_a_phone_and_on_paper(folder, person):
    with serving(folder) as address:
        phone = person(address, "eva", java_script_enabled=False, viewport={"width": 360, "height": 740})
        phone.get_by_role("link", name="New case").click()
        phone.get_by_label("Row").fill("case,age,scan\nP-1,63,spot")
        phone.get_by_role("button", name="Open the case").last.click()
        heading(phone, "Next: chol for 12.00")
        phone.get_by_role("button", name="Order", exact=True).click()
        heading(phone, "Waiting for chol")
        case = phone.url
        for path in ("/", "/cases/new", case, f"{case}/slip", "/monitoring", "/help"):
            phone.goto(path)
            box = phone.locator("main").bounding_box()
            assert box["width"] <= 360
            wide = [t for t in phone.locator("table, section, form").all() if (t.bounding_box() or box)["width"] > 360]
            assert wide == []
        phone.goto(f"{case}/slip")
        phone.emulate_media(media="print")
        assert not phone.locator("header").is_visible()
        assert phone.locator("table").is_visible()


BROKEN_WORDS = """() => [...document.querySelectorAll("thead th, td[data-name=Test]")].flatMap((cell) => {
  const text = cell.firstChild;
  return [...(text?.data ?? "").matchAll(/\\S+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map((word) => word[0]);
})"""


def test_narrow_tables_break_no_word(folder, person):
    with clinic_desk(folder / "cases.db", [folder / "heart.json"]) as desk, desk.database.write() as connection:
        for n in range(25):
            known = {"age": 63, "scan": "spot", "chol": 200, "sugar": 5}
            case = desk.cases.create(connection, User("ana", "work"), None, f"K-{n}", known)
            desk.cases.close(connection, User("ana", "work"), case["id"], "well")
    with serving(folder) as address:
        page = person(address, "ana", viewport={"width": 660, "height": 900})
        page.goto("/monitoring")
        heading(page, "Results against training")
        assert page.evaluate(BROKEN_WORDS) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 660
