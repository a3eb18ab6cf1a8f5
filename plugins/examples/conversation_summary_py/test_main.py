import unittest
from pathlib import Path

from toolrun.testing import Memory, run_tool

MAIN = Path(__file__).parent / "main.py"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 20}}}


class ConversationSummary(unittest.TestCase):
    def setUp(self):
        self.memory = Memory({"conversationSummary": {"access": "session", "strict": True, "schema": SCHEMA}})

    def add(self, note):
        return run_tool(MAIN, {"note": note}, self.memory)

    def test_drops_the_oldest(self):
        for note in ("one", "two", "three"):
            self.assertEqual(self.add(note).check().output["dropped"], 0)
        self.assertEqual(self.add("four").check().output, {"notes": ["- two", "- three", "- four"], "dropped": 1})

    def test_refuses_what_is_too_long_alone(self):
        self.add("one").check()
        self.assertEqual(self.add("x" * 30).error["code"], "schema_violation")
        self.assertEqual(self.memory.content("conversationSummary"), {"text": "- one"})


if __name__ == "__main__":
    unittest.main()
