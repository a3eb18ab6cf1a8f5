"""Tests that run_tool returns the same results as the engine, with the same messages."""

import json
import tempfile
import unittest
from pathlib import Path

from toolrun.testing import Memory, run_tool

FILE = Path(__file__).with_name("tools.json")
STORES = {"prefs": {"access": "user"}}


class Tools(unittest.TestCase):
    def test_tools(self):
        for tool in json.loads(FILE.read_text(encoding="utf-8"))["tools"]:
            with self.subTest(tool["name"]), tempfile.TemporaryDirectory() as folder:
                for name, text in {"main.py": tool["code"], **tool.get("files", {}), **tool.get("siblings", {})}.items():
                    file = Path(folder, name)
                    file.parent.mkdir(exist_ok=True)
                    file.write_text(text, encoding="utf-8")
                path = folder if "files" in tool else Path(folder, "main.py")
                schema = {"properties": dict.fromkeys(tool.get("params", ()), {}), "additionalProperties": True}
                result = run_tool(path, tool.get("input"), Memory(STORES), input_schema=schema)
                got = {"output": result.output, "error": result.error, "warnings": result.warnings}
                self.assertEqual(got, {key: tool.get(key, [] if key == "warnings" else None) for key in got})


if __name__ == "__main__":
    unittest.main()
