"""A tree as a flowchart of Mermaid, which many pages and wikis draw."""

from __future__ import annotations

from worthwhile.tree.branches import condition
from worthwhile.tree.node_costs import node_costs
from worthwhile.tree.text import box_lines, colour_of
from worthwhile.tree.tree import Tree
from worthwhile.wording import amount

__all__ = ["to_mermaid"]


def to_mermaid(tree: Tree) -> str:
    """Return a tree as a flowchart: each test with its price there, each answer with what its tests cost.

    Examples
    --------
    >>> tree = Tree.from_json('''{
    ...   "format": "worthwhile-tree", "version": 1, "classes": ["well", "sick"],
    ...   "columns": [{"name": "fever", "kind": "numeric"}], "costs": {"tests": {"fever": 2.0}},
    ...   "nodes": [{"test": "fever", "threshold": 38.0, "children": [1, 2]},
    ...             {"answer": "well"}, {"answer": "sick"}]}''')
    >>> print(to_mermaid(tree))
    flowchart TD
      n0["fever<br>price 2.00"]
      n0 -->|"≤ 38"| n1
      n0 -->|"#gt; 38"| n2
      n1(["well<br>tests cost 2.00"])
      style n1 fill:#a6d5f0,color:#000
      n2(["sick<br>tests cost 2.00"])
      style n2 fill:#f5c98a,color:#000
    <BLANKLINE>
    """
    costs = node_costs(tree)
    lines = ["flowchart TD"]
    for node in range(tree.n_nodes):
        shown = box_lines(tree, node, costs[node])
        if tree.nodes.test[node] < 0:
            shown.insert(1, f"tests cost {amount(costs[node].spent)}")
            lines.append(f'  n{node}(["{_text(shown)}"])')
            lines.append(f"  style n{node} fill:{colour_of(tree, node)},color:#000")
        else:
            lines.append(f'  n{node}["{_text(shown)}"]')
        for branch, child in enumerate(tree.nodes.children(node)):
            lines.append(f'  n{node} -->|"{_text([condition(tree, node, branch)])}"| n{child}')
    return "\n".join(lines) + "\n"


def _text(lines: list[str]) -> str:
    """Return lines as Mermaid writes them: entities for what means something there."""
    entities = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "\\": "#92;"}
    return "<br>".join("".join(entities.get(c, c) for c in " ".join(line.split())) for line in lines)
