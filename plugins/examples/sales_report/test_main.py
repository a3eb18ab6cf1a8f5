import unittest
from pathlib import Path

from toolrun.testing import Memory, run_tool

MAIN = Path(__file__).parent / "main.py"


class SalesReport(unittest.TestCase):
    def setUp(self):
        self.memory = Memory({"salesRows": {"access": "user"}})

    def report(self, *lines):
        given = {"sales": "\n".join(("region,item,amount", *lines))} if lines else {}
        return run_tool(MAIN, given, self.memory)

    def test_sums_are_exact(self):
        self.report("north,tea,0.1").check()
        self.assertEqual(self.report("north,tea,0.2").check().output["regions"][0]["total"], "0.30")

    def test_keeps_the_latest(self):
        self.report(*(f"north,tea,{n}" for n in range(600))).check()
        rows = self.memory.content("salesRows")["rows"]
        self.assertEqual((len(rows), rows[0]["amount"]), (500, "100.00"))

    def test_stores_nothing_of_a_bad_text(self):
        for line in ("north,tea", "north,tea,x", "north,tea,1,2", "north,tea,inf"):
            with self.subTest(line):
                self.assertEqual(self.report("north,tea,1", line).error["code"], "tool_error")
                self.assertIsNone(self.memory.content("salesRows"))


if __name__ == "__main__":
    unittest.main()
