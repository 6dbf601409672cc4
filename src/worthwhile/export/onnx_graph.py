"""A tree as an ONNX model, for onnxruntime and whatever else runs such models.

Numbers are compared in double precision, before the tree: single precision, which the tree operators of ONNX work
with, would send some cases down another branch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from worthwhile.export.program import (
    Cut,
    DecisionProgram,
    ProgramStep,
    Refusal,
    Step,
    Verdict,
    decision_program,
    texts_of,
)
from worthwhile.tree.json_format import plain
from worthwhile.tree.tree import Tree

__all__ = ["to_onnx"]

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # of 2022, so that older runtimes read the model
DOMAIN = "ai.onnx.ml"


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ValueError("ONNX models need onnx, which is not installed: pip install 'worthwhile[onnx]'") from None
    return onnx


def to_onnx(tree: Tree, missing: bool = True) -> bytes:
    """Return a tree as an ONNX model.

    Its inputs are the tests that the tree asks for, each of shape (cases, 1): numbers in double precision (missing:
    NaN; dates in days since 1970-01-01), and texts (missing: any text that is not a value, such as ""). Its outputs are
    `answer` and `price`.

    Parameters
    ----------
    tree : Tree
    missing : bool
        As for `decision_program`; without rules for missing values, the price of such a case is NaN and its answer is
        "", -1 or NaN.
    """
    return bytes(_GraphWriter(decision_program(tree, missing), _onnx()).model().SerializeToString())


class _GraphWriter:
    """Writes a program: the place of each value among the cuts, a tree over these places, and tables of outcomes."""

    def __init__(self, program: DecisionProgram, onnx: Any) -> None:
        self._program, self._onnx, self._tree = program, onnx, program.tree
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._features: dict[tuple[int, Any], int] = {}  # of a numeric test (one), or a nominal one by its parts
        self._cuts: dict[int, list[float]] = {}
        self._rows: list[dict[str, Any]] = []  # nodes of the tree operator
        self._targets: list[tuple[int, int]] = []  # its leaves, and their outcomes

    def model(self) -> Any:
        """Return the whole model."""
        helper, proto = self._onnx.helper, self._onnx.TensorProto
        self._find_features()
        self._grow(self._program.root)
        inputs = [
            helper.make_tensor_value_info(
                self._tree.columns[test],
                proto.DOUBLE if self._tree.schema.values[test] is None else proto.STRING,
                ["cases", 1],
            )
            for test in self._inputs()
        ]
        places = [self._place(test, parts, at) for (test, parts), at in self._features.items()]
        self._add("Concat", places, "places", axis=1)
        self._add_tree()
        kind = self._add_outcomes()
        outputs = [
            helper.make_tensor_value_info("answer", kind, ["cases"]),
            helper.make_tensor_value_info("price", proto.DOUBLE, ["cases"]),
        ]
        graph = helper.make_graph(self._nodes, "worthwhile", inputs, outputs, self._constants)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, ML_OPSET)]
        model = helper.make_model(graph, opset_imports=versions, producer_name="worthwhile", ir_version=IR_VERSION)
        self._onnx.checker.check_model(model)
        return model

    def _inputs(self) -> list[int]:
        return self._program.asked() or [0]  # a model needs an input, even where a leaf answers everything

    def _find_features(self) -> None:
        """Number the features of the tree operator, and collect the cuts of numeric tests."""
        seen: set[int] = set()
        todo: list[Step] = [self._program.root]
        if not isinstance(self._program.root, ProgramStep):
            values = self._tree.schema.values[0]
            self._features[0, None if values is None else (tuple(values),)] = 0
            self._cuts[0] = []
        while todo:
            step = todo.pop()
            if not isinstance(step, ProgramStep) or id(step) in seen:
                continue
            seen.add(id(step))
            todo += [*step.children, *([] if step.missing is None else [step.missing])]
            is_numeric = self._tree.schema.values[step.test] is None
            if is_numeric:
                own = self._cuts.setdefault(step.test, [])
                own += [_bound(part) for part in step.parts if isinstance(part, Cut)]
            self._features.setdefault((step.test, None if is_numeric else step.parts), len(self._features))
        self._cuts = {test: sorted(set(cuts)) for test, cuts in self._cuts.items()}

    # ---- the graph

    def _add(self, operator: str, inputs: list[str], output: str, **options: Any) -> str:
        domain = {"domain": DOMAIN} if operator in ("LabelEncoder", "TreeEnsembleRegressor") else {}
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [output], **domain, **options))
        return output

    def _constant(self, name: str, values: Any) -> str:
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def _place(self, test: int, parts: Any, at: int) -> str:
        """Add the place of each value: the number of cuts below it, or the number of its part; -1: missing."""
        name, out, to_float = self._tree.columns[test], f"place_{at}", self._onnx.TensorProto.FLOAT
        values = self._tree.schema.values[test]
        if values is not None:
            table = {text: float(part) for part, own in enumerate(parts) for text in texts_of(values, own)}
            return self._add(
                "LabelEncoder",
                [name],
                out,
                keys_strings=list(table) or [""],
                values_floats=list(table.values()) or [-1.0],
                default_float=-1.0,
            )
        cuts = self._constant(f"cuts_{at}", np.array([[*self._cuts[test], math.inf]]))  # never empty
        self._add("Greater", [name, cuts], f"above_{at}")
        self._add("Cast", [f"above_{at}"], f"counted_{at}", to=to_float)
        axes = self._constant(f"axes_{at}", np.array([1], dtype=np.int64))
        self._add("ReduceSum", [f"counted_{at}", axes], f"number_{at}", keepdims=1)
        self._add("IsNaN", [name], f"gone_{at}")
        absent = self._constant(f"absent_{at}", np.array([[-1.0]], dtype=np.float32))
        return self._add("Where", [f"gone_{at}", absent, f"number_{at}"], out)

    def _add_tree(self) -> None:
        keys = ("nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
        rows = {f"nodes_{key}": [row[key] for row in self._rows] for key in keys}
        leaves, outcomes = zip(*self._targets, strict=True)
        self._add(
            "TreeEnsembleRegressor",
            ["places"],
            "outcome",
            n_targets=1,
            nodes_treeids=[0] * len(self._rows),
            target_treeids=[0] * len(leaves),
            target_nodeids=list(leaves),
            target_ids=[0] * len(leaves),
            target_weights=[float(outcome) for outcome in outcomes],
            **rows,
        )
        self._add("Cast", ["outcome"], "outcome_number", to=self._onnx.TensorProto.INT64)
        shape = self._constant("flat", np.array([-1], dtype=np.int64))
        self._add("Reshape", ["outcome_number", shape], "outcome_index")

    def _add_outcomes(self) -> Any:
        """Add the answer and the price of each outcome; the first outcome refuses. Return the type of answers."""
        proto, verdicts = self._onnx.TensorProto, self._program.verdicts
        labels = [plain(label) for label in self._tree.answers]
        given = [labels[verdict.answer] for verdict in verdicts]
        if all(isinstance(label, int) for label in labels):
            kind, answers = proto.INT64, np.array([-1, *given], dtype=np.int64)
        elif all(isinstance(label, (int, float)) for label in labels):
            kind, answers = proto.DOUBLE, np.array([math.nan, *given], dtype=np.float64)
        else:
            kind, answers = proto.STRING, np.array(["", *map(str, given)], dtype=object)
        prices = np.array([math.nan, *(verdict.price for verdict in verdicts)])
        self._add("Gather", [self._constant("answers", answers), "outcome_index"], "answer", axis=0)
        self._add("Gather", [self._constant("prices", prices), "outcome_index"], "price", axis=0)
        return kind

    # ---- the tree operator

    def _row(self, feature: int, value: float, mode: str) -> int:
        at = len(self._rows)
        self._rows.append(
            {"nodeids": at, "featureids": feature, "values": value, "modes": mode, "truenodeids": 0, "falsenodeids": 0}
        )
        return at

    def _grow(self, step: Step) -> int:
        """Add a step and all that follows; return its number."""
        if not isinstance(step, ProgramStep):
            at = self._row(0, 0.0, "LEAF")
            assert isinstance(step, (Verdict, Refusal))
            outcome = 0 if isinstance(step, Refusal) else 1 + self._program.verdicts.index(step)
            self._targets.append((at, outcome))
            return at
        is_numeric = self._tree.schema.values[step.test] is None
        feature = self._features[step.test, None if is_numeric else step.parts]
        if is_numeric:
            cuts = self._cuts[step.test]
            limits = [cuts.index(_bound(part)) + 0.5 for part in step.parts if isinstance(part, Cut)]
        else:
            limits = [part + 0.5 for part in range(len(step.parts) - 1)]
        branches = list(zip(limits, step.children, strict=False))
        if step.missing is not None:
            branches.insert(0, (-0.5, step.missing))
        return self._chain(feature, branches, step.children[-1])

    def _chain(self, feature: int, branches: list[tuple[float, Step]], last: Step) -> int:
        """Add comparisons of a feature with rising limits, one after another."""
        if not branches:
            return self._grow(last)
        (limit, step), rest = branches[0], branches[1:]
        at = self._row(feature, limit, "BRANCH_LEQ")
        self._rows[at]["truenodeids"] = self._grow(step)
        self._rows[at]["falsenodeids"] = self._chain(feature, rest, last)
        return at


def _bound(cut: Cut) -> float:
    """Return the largest number on the lower side of a cut."""
    return math.nextafter(cut.value, -math.inf) if cut.strict else cut.value
