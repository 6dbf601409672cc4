"""Frames of pandas, where it is installed: it is optional and slow to import."""

from __future__ import annotations

import importlib
from typing import Any, Literal

__all__ = ["pandas_for"]


def pandas_for(as_frame: bool | Literal["auto"]) -> Any:
    """Return the module pandas if a frame is wanted and pandas is installed, None for an array."""
    if as_frame not in (True, False, "auto"):
        raise ValueError(f'as_frame must be True, False or "auto", got {as_frame!r}')
    if as_frame is False:
        return None
    try:
        return importlib.import_module("pandas")  # imported here: pandas is optional and slow to import
    except ImportError:
        if as_frame == "auto":
            return None
        raise ImportError("as_frame=True needs pandas, which is not installed; use as_frame=False for arrays") from None
