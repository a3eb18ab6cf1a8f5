"""Test of the example in README.md."""

import os
import re
import tempfile
import unittest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


class Readme(unittest.TestCase):
    def test_example(self):
        tool, tests = re.findall(r"```python\n(# \w+\.py.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            Path("visit.py").write_text(tool, encoding="utf-8")
            names = {}
            exec(tests, names)
            found = [name for name in names if name.startswith("test_")]
            self.assertEqual(len(found), 3)
            for name in found:
                with self.subTest(name):
                    names[name]()
            os.chdir(before)


if __name__ == "__main__":
    unittest.main()
