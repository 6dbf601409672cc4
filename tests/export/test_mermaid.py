"""Trees as flowcharts: what is drawn is read back and followed."""

import re

import pytest

from exported import NAMES, exported_tree
from worthwhile.export import to_mermaid
from worthwhile.tree.branches import condition
from worthwhile.tree.node_costs import node_costs
from worthwhile.wording import amount

BOX = re.compile(r'  n(\d+)(?:\(\["(.*)"\]\)|\["(.*)"\])')
ARROW = re.compile(r'  n(\d+) -->\|"(.*)"\| n(\d+)')
ENTITIES = {"#quot;": '"', "#lt;": "<", "#gt;": ">", "#amp;": "&", "#96;": "`", "#92;": "\\", "#35;": "#"}


def plain(text):
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    return text


@pytest.mark.parametrize("name", NAMES)
def test_every_path_is_drawn(name):
    model = exported_tree(name)
    text = to_mermaid(model)
    assert text.startswith("flowchart TD\n")
    boxes = {int(m[1]): [plain(line) for line in (m[2] or m[3]).split("<br>")] for m in BOX.finditer(text)}
    arrows = {(int(m[1]), plain(m[2])): int(m[3]) for m in ARROW.finditer(text)}
    costs = node_costs(model)
    assert len(boxes) == model.n_nodes
    assert len(arrows) == model.n_nodes - 1
    for node in range(model.n_nodes):
        for branch, child in enumerate(model.nodes.children(node)):
            assert arrows[node, condition(model, node, branch)] == child
        if model.nodes.test[node] < 0:
            answer = str(model.answers[model.nodes.answer[node]])
            assert boxes[node][:2] == [answer, f"tests cost {amount(costs[node].spent)}"]
        else:
            assert boxes[node][0] == model.columns[model.nodes.test[node]]
