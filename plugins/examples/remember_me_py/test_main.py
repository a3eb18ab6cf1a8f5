import json
import unittest
from pathlib import Path

from toolrun.testing import Memory, run_tool

FOLDER = Path(__file__).parent
INPUT = json.loads((FOLDER / "tool.json").read_text())["inputSchema"]
STORES = {
    "userPreferences": {
        "access": "user",
        "strict": True,
        "schema": {"type": "object", "properties": {"language": {"type": "string", "pattern": "^[a-z]{2}$"}}},
    }
}


class RememberMe(unittest.TestCase):
    def setUp(self):
        self.memory = Memory(STORES, grants={"userPreferences": ["read", "write"]})

    def greet(self, **input):
        return run_tool(FOLDER / "main.py", input, self.memory, input_schema=INPUT)

    def test_remembers(self):
        self.assertIn("stranger", self.greet(language="fr").check().output["greeting"])
        self.assertEqual(self.memory.content("userPreferences"), {"language": "fr"})
        self.assertEqual(self.greet().check().output, {"greeting": "Welcome back! You prefer fr."})

    def test_stores_nothing_that_does_not_fit(self):
        self.assertEqual(self.greet(language="French").error["code"], "schema_violation")
        self.assertIsNone(self.memory.content("userPreferences"))

    def test_tells_that_memory_is_away(self):
        self.memory.refuse("userPreferences", "unavailable")
        self.assertEqual(self.greet().error["code"], "unavailable")


if __name__ == "__main__":
    unittest.main()
