"""Ctrl-C inside the core: a program in a process of its own sends itself the signal while a call of the core runs."""

import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import os, signal, sys, threading
import numpy as np
import worthwhile as ww
from worthwhile import _core

sys.setswitchinterval(1000)  # other threads run only where the main one lets them, as the core does while it works

def interrupt_in(name, call=1):
    entered, original, calls = threading.Event(), getattr(_core, name), []

    def send():
        entered.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def counted(*args, **kwargs):
        calls.append(name)
        if len(calls) == call:
            entered.set()
        return original(*args, **kwargs)

    threading.Thread(target=send, daemon=True).start()
    setattr(_core, name, counted)
"""


def fit_interrupted(clf, X, y):
    """Fit a learner whose callback sends Ctrl-C: `fit` passes it on, and the learner holds what it has."""
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    return clf


def run_interrupted(program):
    """Run a program that calls `interrupt_in` and then something that would take hours; return what it printed."""
    arguments = [sys.executable, "-c", PRELUDE + textwrap.dedent(program)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout, done.stderr
