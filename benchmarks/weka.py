"""What benchmarks against Weka share: where it is, and cases as ARFF files.

Files declare exactly the nominal values of the training part, as our learners do; a value of the
test part that does not occur in training is written as missing, which is how our learners treat it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from worthwhile.table.columns import read_columns
from worthwhile.table.schema import Schema

JARS = (Path("/usr/share/java/weka.jar"), Path("/usr/share/weka/weka.jar"))
J48 = "weka.classifiers.trees.J48"
OPTIONS = ("-C", "0.25", "-M", "2")  # of J48: its defaults, and C4.5's


def find_weka() -> tuple[str, Path] | None:
    """Return the Java command and Weka's jar, or None if one is missing."""
    java = shutil.which("java")
    jar = next((path for path in JARS if path.is_file()), None)
    return None if java is None or jar is None else (java, jar)


def weka_missing(package: str = "default-jre") -> str:
    """Return a message on what is needed; `package`: the Debian package of Java."""
    return f"this needs Java and Weka ({', '.join(map(str, JARS))}); on Debian: apt install weka {package}"


def java_command(java: str, jar: Path, *words: str) -> list[str]:
    """Return a command that runs a class of Weka or a program that uses it."""
    return [java, "-Xmx2g", "-Djava.awt.headless=true", "-cp", str(jar), *words]


def weka_version(java: str, jar: Path) -> str:
    """Return the versions of Weka and Java."""
    weka = subprocess.run(
        [java, "-cp", str(jar), "weka.core.Version"], capture_output=True, text=True, check=False
    ).stdout
    machine = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    return f"Weka {weka.split()[0] if weka else 'unknown'}, {machine.splitlines()[0] if machine else 'Java unknown'}"


@dataclass(frozen=True)
class Header:
    """What the files of a trial declare: the nominal values of each column, None if it is numeric, and the classes."""

    values: tuple[tuple[str, ...] | None, ...]
    classes: Sequence[str]

    @classmethod
    def learn(cls, X: pd.DataFrame, classes: Iterable[str], nominal: Sequence[str] | None = None) -> Header:
        """Find the values in the training part, in our learners' order, so that ties are broken in the same way."""
        return cls(Schema.learn(read_columns(X), nominal).values, list(classes))


def write_arff(path: Path, header: Header, X: pd.DataFrame, y: npt.NDArray[np.str_]) -> None:
    """Write cases; their classes must be in the header."""
    columns = [_column(X[name], known) for name, known in zip(X.columns, header.values, strict=True)]
    classes = "{" + ",".join(map(_quoted, header.classes)) + "}"
    with path.open("w", encoding="utf-8") as file:
        print("@relation fold", file=file)
        for name, (declared, _) in zip(X.columns, columns, strict=True):
            print(f"@attribute {_quoted(name)} {declared}", file=file)
        print(f"@attribute 'the class' {classes}\n@data", file=file)
        for values_of_case in zip(*(written for _, written in columns), map(_quoted, y), strict=True):
            print(",".join(values_of_case), file=file)


def _quoted(text: str) -> str:
    """Write a name or nominal value for ARFF."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _column(column: pd.Series, known: tuple[str, ...] | None) -> tuple[str, list[str]]:
    """Return the declared type and the written values of a column; `known`: its values in training, None if numeric."""
    if known is None:
        return "numeric", ["?" if np.isnan(v) else repr(float(v)) for v in column]
    declared = "{" + ",".join(map(_quoted, known or ("none",))) + "}"  # ARFF needs at least one value
    return declared, [_quoted(v) if isinstance(v, str) and v in known else "?" for v in column.astype(object)]
