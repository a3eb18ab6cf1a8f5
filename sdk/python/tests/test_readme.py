"""Test of the examples in README.md."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any

README = Path(__file__).parent.parent / "README.md"


class Readme(unittest.TestCase):
    def test_examples(self) -> None:
        os.environ.update(TOOLRUN_URL=os.environ["SERVICE"], TOOLRUN_KEY=os.environ["OPERATOR"])
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        printed = io.StringIO()
        names: dict[str, Any] = {}
        examples = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            os.chdir(folder)
            for example in examples:
                exec(example, names)
            self.assertEqual(os.stat("ann.zip").st_size, names["size"])
            os.chdir(before)
        names["client"].close()
        self.assertRegex(printed.getvalue(), r"^\{'items': \['tea'\]\}\ninfo ordered\nrun_\w+ \{'items': \['tea'\]\}\n")
        self.assertIn("found archival Acme renewal: the CFO wants prices\n", printed.getvalue())
        self.assertIn("context # core\n- Prefers concise summaries\n- Works in Lisbon ['Acme renewal:", printed.getvalue())
        self.assertIn("article r1 We refund a broken cup.\n", printed.getvalue())
        self.assertIn(" order ['orders']\n", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
