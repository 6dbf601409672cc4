"""The pages without a browser: forms, roles, forged forms, strict HTML."""

import html.parser
import re

import pytest

from clinic import Client, running

VOID = {"meta", "input", "br", "link"}


class StrictPage(html.parser.HTMLParser):
    """Parses a page: tags must be closed in order, nothing inline that the policy forbids."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert not [name for name in names if name == "style" or name.startswith("on")]
        assert tag != "script" or "src" in names
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text = " ".join((self.text + " " + data).split())


class Person(Client):
    """Somebody with a browser, without JavaScript."""

    def __init__(self, address, token):
        super().__init__(address, token)
        del self.headers["Authorization"]
        self.follow_redirects = True
        self.page = None
        assert "Worklist" in self.look(self.post("/login", data={"token": token})).text

    def look(self, answer, status=200):
        """Check and keep a page."""
        assert answer.status_code == status, answer.text
        self.raw, self.page = answer.text, StrictPage(answer.text)
        return self.page

    def visit(self, path, status=200):
        return self.look(self.get(path), status)

    def submit(self, path, status=200, **fields):
        """Send a form of the page that was looked at last."""
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', self.raw))
        return self.look(self.post(path, data={**hidden, **fields}), status)


@pytest.fixture
def people(file_desk):
    """A function that logs somebody in."""
    with running(file_desk) as address:
        opened = []

        def log_in(name, role="work"):
            person = Person(address, file_desk.users.add(name, role))
            opened.append(person)
            return person

        yield log_in
        for person in opened:
            person.close()


def test_a_case_without_javascript(people):
    ana = people("ana")
    ana.visit("/cases/new")
    page = ana.submit("/cases/new", case_number="A-1", r0="63")
    case = re.search(r'data-case="(\w+)"', ana.raw).group(1)
    assert "Next: scan for 40.00" in page.text
    assert "It costs 900.00, but answering now is expected to cost only 120.00 in errors." in page.text
    page = ana.submit(f"/cases/{case}/order", test="scan")
    assert "Waiting for scan" in page.text
    assert "scan just now" in ana.visit("/").text
    assert "A-1" in ana.visit(f"/cases/{case}/slip").text
    ana.visit(f"/cases/{case}")
    page = ana.submit(f"/cases/{case}/results", r1="spot")
    assert "Results are delayed, so these are ordered at once: chol and sugar." in page.text
    page = ana.submit(f"/cases/{case}/order", test=["chol", "sugar"])
    page = ana.submit(f"/cases/{case}/results", r3="7", u2="on", w2="no blood")
    assert "unavailable (no blood)" in page.text
    assert "Answer: sick" in page.text
    page = ana.submit(f"/cases/{case}/correct", test="sugar", value="5", why="typing error")
    assert "corrected, was 7" in page.text
    page = ana.submit(f"/cases/{case}/undo")
    assert "ana: took back the correction" in page.text
    assert "Undo the results" in page.text
    page = ana.submit(f"/cases/{case}/note", text="<script>alert(1)</script>")
    assert "<script>alert(1)" in page.text  # as text
    page = ana.submit(f"/cases/{case}/close", answer="sick", truth="sick")
    assert "Closed: sick" in page.text
    assert "ana: closed the case with the answer sick; outcome: sick" in page.text
    assert "Outcome: sick . The error cost 0.00, the tests 46.00: 46.00 in total." in page.text
    assert "1 case, 1 closed." in ana.visit("/monitoring").text
    assert "/api/cases/{case_id}/orders" in ana.visit("/help").text
    assert ana.get(f"/cases/{case}/export").json()["case"]["case_number"] == "A-1"
    assert ana.get(f"/cases/{case}/version").json() == {"version": 9, "by": "ana"}


def test_a_pasted_row(people):
    ana = people("ana")
    ana.visit("/cases/new")
    page = ana.submit("/cases/new", row="case\tage\tscan\tclass\nB-2\t63\tspot\tsick", status=422)
    assert "columns that are not tests: 'class'" in page.text
    assert "B-2\t63" in ana.raw  # what was pasted is still there
    page = ana.submit("/cases/new", row="case\tage\tscan\tclass\nB-2\t63\tspot\tsick", ignore="on", p1="on")
    assert "Case B-2" in page.text
    assert "Next: chol for 12.00" in page.text
    ana.visit("/cases/new")
    page = ana.submit("/cases/new", case_number=" ", r0="63", status=422)
    assert "The case number must have 1 to 100 printable characters" in page.text
    assert "'x' is not a number" in ana.submit("/cases/new", case_number="1", r0="x", status=422).text


def test_a_pasted_row_with_an_order(people):
    ana = people("ana")
    ana.visit("/cases/new")
    page = ana.submit("/cases/new", row="case\tage\tscan\tchol\nB-3\t63\tPending\tu")
    case = re.search(r'data-case="(\w+)"', ana.raw).group(1)
    tests = {test["test"]: test for test in ana.get(f"/cases/{case}/export").json()["case"]["tests"]}
    assert {name: tests[name]["state"] for name in ("age", "scan", "chol")} == {
        "age": "result in",
        "scan": "ordered",
        "chol": "unavailable",
    }
    assert "ana: ordered scan" in page.text


def test_cases_with_the_same_number(people):
    ana = people("ana")
    seen = []
    for _ in range(2):
        ana.visit("/cases/new")
        seen.append(ana.submit("/cases/new", case_number="D-4", r0="63").text)
    assert "Other cases with this number" not in seen[0]
    assert "Other cases with this number: open, opened" in seen[1]


def test_two_people_on_one_case(people):
    ana, bob = people("ana"), people("bob")
    ana.visit("/cases/new")
    ana.submit("/cases/new", case_number="C", r0="63")
    case = re.search(r'data-case="(\w+)"', ana.raw).group(1)
    bob.visit(f"/cases/{case}")
    ana.submit(f"/cases/{case}/results", r1="clear")
    page = bob.submit(f"/cases/{case}/note", text="I spoke to the patient", status=409)
    assert "Conflict: the case was changed by ana in the meantime" in page.text
    assert "I spoke to the patient</textarea>" in bob.raw  # nothing of his is lost
    page = bob.submit(f"/cases/{case}/note", text="I spoke to the patient")  # the form has the new version
    assert "bob: added a note" in page.text
    assert "clear" in page.text


def test_a_result_that_somebody_else_has_entered_meanwhile(people):
    ana, bob = people("ana"), people("bob")
    ana.visit("/cases/new")
    ana.submit("/cases/new", case_number="C", r0="63")
    case = re.search(r'data-case="(\w+)"', ana.raw).group(1)
    bob.visit(f"/cases/{case}")
    ana.submit(f"/cases/{case}/results", r1="clear")
    page = bob.submit(f"/cases/{case}/results", r1="spot", r2="250", u4="on", status=409)
    assert "You entered scan = spot, which has a result by now" in page.text
    correction = bob.raw[bob.raw.index('<details class="inline" open>') :]
    assert "<option selected>spot</option>" in correction[: correction.index("</details>")]
    others = bob.raw[bob.raw.index("<details open><summary>Results of other tests") :]
    assert 'value="250"' in others[: others.index("</details>")]  # and it can be seen
    page = bob.submit(f"/cases/{case}/correct", test="scan", value="spot", why="second look")
    assert "corrected, was clear" in page.text


def test_a_form_with_a_mistake_keeps_what_was_ticked(people):
    ana = people("ana")
    ana.visit("/cases/new")
    ana.submit("/cases/new", case_number="C", r0="x", u1="on", p0="on", status=422)
    assert re.findall(r'name="(\w+)" checked', ana.raw) == ["p0", "u1"]


def test_forged_forms_are_refused(people):
    ana = people("ana")
    ana.visit("/cases/new")
    assert ana.post("/cases/new", data={"case_number": "1"}).status_code == 403
    assert ana.post("/cases/new", data={"case_number": "1", "form_token": "é"}).status_code == 403
    assert ana.get("/").text.count("There are no cases to work on.") == 1
    assert ana.post("/login", data={"token": "x"}, headers={"Origin": "https://evil.example"}).status_code == 403
    assert ana.post("/logout", data={}).status_code == 403


def test_logging_in_and_out(people, file_desk):
    ana = people("ana")
    cookie = ana.cookies["worthwhile_session"]
    assert ana.post("/login", data={"token": "ww-wrong"}).status_code == 401
    answer = ana.get("/login?then=https://evil.example/")
    assert 'value="/"' in answer.text
    ana.visit("/")
    assert "Log in" in ana.submit("/logout").text
    assert file_desk.users.session(cookie) is None
    answer = ana.get("/cases/new", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?then=%2Fcases%2Fnew")
    set_cookie = ana.post("/login", data={"token": file_desk.users.add("eve", "read")}, follow_redirects=False)
    flags = set_cookie.headers["set-cookie"].casefold()
    assert "httponly" in flags
    assert "samesite=lax" in flags


def test_roles_on_pages(people):
    ana, eve, root = people("ana"), people("eve", "read"), people("root", "admin")
    ana.visit("/cases/new")
    ana.submit("/cases/new", case_number="D", r0="63")
    case = re.search(r'data-case="(\w+)"', ana.raw).group(1)
    eve.visit(f"/cases/{case}")
    assert "Save results" not in eve.raw
    assert "needs work" in eve.submit(f"/cases/{case}/note", text="x", version="1", status=403).text
    eve.visit("/cases/new", 403)
    assert "needs admin" in ana.submit(f"/cases/{case}/erase", sure="on", status=403).text
    root.visit(f"/cases/{case}")
    assert "tick the box" in root.submit(f"/cases/{case}/erase", status=422).text
    root.submit(f"/cases/{case}/erase", sure="on")
    assert "was erased" in root.visit(f"/cases/{case}", 410).text
    root.visit(f"/cases/{case}/slip", 410)
    root.visit("/cases/none", 404)


def test_pages_of_the_worklist(people, change):
    for n in range(30):
        change("create", None, f"N{n}", {"age": 63 if n else 30})
    ana = people("ana")
    assert "30 cases, page 1 of 2" in ana.visit("/").text
    assert "earlier page" in ana.visit("/?page=2").text
    assert "1 case" in ana.visit("/?state=answered").text
    assert "No case fits." in ana.visit("/?q=zzz").text
    ana.visit("/?state=odd", 422)


def test_the_worklist_has_what_is_not_closed(people, change):
    done = change("create", None, "Done", {"age": 63, "scan": "spot"})
    change("create", None, "Next", {"age": 63, "scan": "spot"})
    change("order", done["id"], ["chol"], 1)
    change("close", done["id"])
    ana = people("ana")
    page = ana.visit("/")
    assert ("Done" in page.text, "Next" in page.text) == (False, True)
    assert "chol and sugar for 12.00" in page.text  # the whole order, which the price is for
    row = ana.visit("/?state=closed").text
    assert ("closed: sick" in row, "chol" in row) == (True, False)  # nobody waits for it any more
    assert "2 cases" in ana.visit("/?state=all").text
    assert 'href="/?state=all&amp;q=Done"' in ana.get("/?q=Done").text


def test_a_result_that_comes_after_the_closing(people, change):
    case = change("create", None, "C", {"age": 63, "scan": "spot"})
    change("order", case["id"], ["chol", "sugar"], 1)
    change("close", case["id"], answer="well")
    ana = people("ana")
    page = ana.visit(f"/cases/{case['id']}")
    assert "Result still to come" in page.text
    assert "Results of other tests" not in page.text
    page = ana.submit(f"/cases/{case['id']}/results", r2="300")
    assert ("Closed: well" in page.text, "ana: result of chol = 300" in page.text) == (True, True)
    assert "the case is closed" in ana.submit(f"/cases/{case['id']}/results", r4="no", status=422).text
    ana.visit(f"/cases/{case['id']}")
    assert "Enter results" not in ana.submit(f"/cases/{case['id']}/results", u3="on").text
    for truth, words in (("sick", "ana: told the outcome: sick"), ("well", "ana: told the outcome: well (was sick)")):
        assert words in ana.submit(f"/cases/{case['id']}/close", truth=truth).text
