"""Writes reports and reads their HTML."""

import base64
import hashlib
import html.parser
import re
from types import SimpleNamespace

import pytest

import worthwhile as ww
from worthwhile.report import write_report

VOID = {"meta", "input", "br", "img", "link"}
LOADING = ("src", "href", "xlink:href", "action", "srcset", "data", "poster", "formaction", "ping")


class ParsedPage(html.parser.HTMLParser):
    """Parses a page strictly: tags must be closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.tags, self.links, self.ids, self.levels = text, [], [], [], [], []
        self.words = {}  # visible text per section; "" for the rest
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), f"repeated attribute in <{tag}>"
        assert "style" not in attributes  # the page's own policy would refuse it
        assert not [name for name in attributes if name.startswith("on")]
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in LOADING]
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.levels += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        section = next((name for tag, name in self.open if tag == "section"), "")
        if not any(tag in ("script", "style") for tag, _ in self.open):
            self.words[section] = " ".join((self.words.get(section, "") + data).split()) + " "

    def section(self, name):
        """Return the HTML of a section."""
        return re.search(rf'<section id="{name}".*?</section>', self.text, re.DOTALL).group(0)

    def check(self):
        """Check what must be true of every report."""
        assert self.text.startswith('<!doctype html>\n<html lang="en">')
        assert self.tags.count("h1") == 1
        assert self.levels[0] == 1
        assert all(after - before <= 1 for before, after in zip(self.levels, self.levels[1:], strict=False))
        assert len(set(self.ids)) == len(self.ids)
        assert not {"link", "img", "iframe", "object", "embed", "base"} & set(self.tags)
        assert all(link[0] == "#" and link[1:] in self.ids for link in self.links)
        assert not re.search(r"https?:|@import|url\(", self.text)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', self.text).group(1)
        assert policy.startswith("default-src 'none'; ")
        for tag in ("style", "script"):
            content = re.search(rf"<{tag}>(.*?)</{tag}>", self.text, re.DOTALL).group(1)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy


@pytest.fixture
def write(tmp_path):
    """A function that writes a report, checks it and returns it parsed."""

    def write(model, X, y, **options):
        path = tmp_path / "report.html"
        write_report(path, model, X, y, **options)
        page = ParsedPage(path.read_text(encoding="utf-8"))
        page.check()
        return page

    return write


@pytest.fixture(scope="session")
def heart():
    """A tree for the heart data, the data it was trained on, and held-out cases."""
    data = ww.datasets.load("heart")
    known = {"costs": data.costs, "nominal": data.nominal, "columns": data.feature_names}
    X, y = data.X[:200], data.y[:200]
    clf = ww.EG2Classifier(prune="cost", **known).fit(X, y)
    held_out, training = (data.X[200:], data.y[200:]), {"X_train": X, "y_train": y}
    return SimpleNamespace(clf=clf, X=X, y=y, held_out=held_out, training=training, known=known)
