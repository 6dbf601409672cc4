"""Trees as ONNX models, run by onnxruntime."""

import sys

import numpy as np
import pytest

from exported import NAMES, cases_of, check, exported_tree
from handmade import small, tree
from worthwhile.export import to_onnx

onnxruntime = pytest.importorskip("onnxruntime")


def run(model, X, **options):
    """The answers and prices of a model of ONNX."""
    session = onnxruntime.InferenceSession(to_onnx(model, **options), providers=["CPUExecutionProvider"])
    inputs = {}
    for given in session.get_inputs():
        column = X[given.name]
        if given.type == "tensor(double)":
            inputs[given.name] = column.to_numpy(dtype=np.float64)[:, None]
        else:
            inputs[given.name] = np.array(["" if v is None else v for v in column], dtype=object)[:, None]
    return session.run(["answer", "price"], inputs)


@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_decides_like_the_tree(name):
    model = exported_tree(name)
    X = cases_of(model)
    check(model, X, *run(model, X))


def test_neighbouring_numbers_stay_apart():
    model = tree(
        small(nodes=[{"test": "x", "threshold": 0.1 + 0.2, "children": [1, 2]}, {"answer": "no"}, {"answer": "yes"}])
    )
    above = np.nextafter(0.1 + 0.2, 1)
    X = cases_of(model).iloc[[0, 0]].assign(x=[0.1 + 0.2, above], y=0.0)
    assert run(model, X)[0].tolist() == model.predict(X).tolist() == ["no", "yes"]


def test_refused_cases_have_no_answer():
    model = tree(small())
    X = cases_of(model).iloc[[0]].assign(x=np.nan, y=1.0)
    answers, prices = run(model, X, missing=False)
    assert answers.tolist() == [""]
    assert np.isnan(prices).all()


def test_without_onnx_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ValueError, match=r"need onnx, which is not installed: pip install 'worthwhile\[onnx\]'"):
        to_onnx(tree(small()))
