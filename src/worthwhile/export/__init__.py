"""Trees for other programs: SQL, Python without dependencies, ONNX, Excel, Mermaid (docs/howto/export.md)."""

from worthwhile.export.excel_sheet import to_xlsx
from worthwhile.export.mermaid import to_mermaid
from worthwhile.export.onnx_graph import to_onnx
from worthwhile.export.program import ExportError
from worthwhile.export.python_code import to_python
from worthwhile.export.sql import DIALECTS, to_sql

__all__ = ["DIALECTS", "ExportError", "to_mermaid", "to_onnx", "to_python", "to_sql", "to_xlsx"]
