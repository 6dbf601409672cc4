"""Take the screenshots of docs/desk.md: a case on the decision desk, from a real server in a real browser.

    python docs/make_screenshots.py

Needs the extra [serve], playwright and Chromium. The data come with worthwhile.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).resolve().parent / "pictures"
COLOURS = 64  # enough for text, and a fifth of the size


def run(folder: Path, *arguments: str) -> str:
    """Run a command and return what it prints."""
    command = [sys.executable, "-m", "worthwhile", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def learn(folder: Path) -> None:
    """Learn the model of the page from the heart data."""
    import worthwhile.datasets

    data = Path(worthwhile.datasets.__file__).parent / "data"
    for name in ("heart.csv", "heart.toml"):
        shutil.copy(data / name, folder)
    options = ["--target", "class", "--costs", "heart.toml", "--learner", "eg2", "--set", "min_cases=8", "-q"]
    run(folder, "learn", "heart.csv", *options, "-o", "heart.json")


def shoot(page: Page, name: str, **options: Any) -> None:
    """Save what the page shows as a small picture."""
    image = Image.open(io.BytesIO(page.screenshot(**options))).convert("RGB")
    path = PICTURES / f"desk-{name}.png"
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1024} kB")


def log_in(page: Page, address: str, token: str) -> None:
    """Log somebody in."""
    page.goto(address)
    page.get_by_label("Your token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Worklist").wait_for()


def open_case(page: Page, number: str, **known: str) -> None:
    """Open a case by the form."""
    page.wait_for_load_state()  # the shortcuts are there
    page.keyboard.press("n")
    page.get_by_label("Case number").fill(number)
    for test, value in known.items():
        enter(page, test, value)
    page.get_by_role("button", name="Open the case").first.click()
    page.get_by_role("heading", name=f"Case {number}").wait_for()


def enter(page: Page, test: str, value: str) -> None:
    """Fill in the result of a test."""
    field = page.locator(f'select[aria-label="{test}"], input[aria-label="{test}"]')
    if field.evaluate("e => e.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)


def save(page: Page, **results: str) -> None:
    """Enter results on the page of a case."""
    for test, value in results.items():
        enter(page, test, value)
    page.get_by_role("button", name="Save results").click()
    page.wait_for_load_state()


def scenario(ana: Page, bob: Page, phone: Page) -> None:
    """Go through the page's story."""
    for number, sex, pain in (("K-101", "male", "asympt"), ("K-102", "fem", "notang"), ("K-103", "male", "angina")):
        open_case(ana, number, age="58", sex=sex, cp=pain)
    open_case(ana, "K-104", age="61", sex="fem")
    ana.get_by_role("heading", name="Next: cp").wait_for()
    shoot(ana, "next", clip={"x": 0, "y": 0, "width": 900, "height": 620})
    save(ana, cp="asympt")
    save(ana, trestbps="130")
    ana.get_by_role("heading", name="Next: chol").wait_for()
    ana.wait_for_load_state()
    ana.keyboard.press("o")
    ana.keyboard.press("Enter")
    ana.get_by_role("heading", name="Waiting for chol").wait_for()
    shoot(ana, "waiting", clip={"x": 0, "y": 0, "width": 900, "height": 700})
    bob.reload()
    shoot(bob, "worklist", clip={"x": 0, "y": 0, "width": 900, "height": 400})
    bob.get_by_role("link", name="K-104").click()
    ana.get_by_label("New note").fill("The laboratory will call.")
    ana.get_by_role("button", name="Add the note").click()
    ana.locator(".note").wait_for()
    save(bob, chol="283")
    bob.get_by_role("alert").wait_for()
    shoot(bob, "conflict", clip={"x": 0, "y": 0, "width": 900, "height": 330})
    save(bob)
    bob.get_by_role("heading", name="Answer:").wait_for()
    row = bob.locator("#known tr", has_text="chol")
    row.get_by_text("Correct", exact=True).first.click()
    row.get_by_label("right value of chol").fill("238")
    row.get_by_placeholder("why?").fill("digits swapped")
    row.get_by_role("button", name="Correct").click()
    bob.get_by_role("heading", name="Answer: buff").wait_for()
    bob.locator("#known").scroll_into_view_if_needed()
    shoot(bob, "answer", full_page=True)
    phone.reload()
    phone.get_by_role("link", name="K-104").click()
    shoot(phone, "phone", clip={"x": 0, "y": 0, "width": 390, "height": 780})
    bob.locator("#close").get_by_label("Outcome").select_option("buff")
    bob.get_by_role("button", name="Close").click()
    bob.get_by_role("heading", name="Closed:").wait_for()
    bob.goto(bob.url.split("/cases")[0] + "/monitoring")
    shoot(bob, "monitoring", full_page=True)


def main() -> None:
    """Take all screenshots."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        learn(folder)
        tokens = [run(folder, "users", "add", user, "--role", "work") for user in ("ana", "bob")]
        command = [sys.executable, "-m", "worthwhile", "serve", "heart.json", "--port", "0"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        server = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        assert server.stdout is not None
        found = re.search(r"http://\S+?(?=,)", server.stdout.readline())
        assert found is not None
        try:
            take_all(driver.chromium.launch(executable_path=chromium), found[0], tokens)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(15)


def take_all(browser: Browser, address: str, tokens: list[str]) -> None:
    """Log Ana and Bob in, Bob also with a phone, and go through the story."""
    pages = []
    for token, width, height in ((tokens[0], 900, 800), (tokens[1], 900, 800), (tokens[1], 390, 780)):
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        log_in(page, address, token)
        pages.append(page)
    scenario(*pages)
    browser.close()


if __name__ == "__main__":
    main()
