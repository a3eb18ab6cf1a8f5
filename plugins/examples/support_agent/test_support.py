import unittest
from pathlib import Path

from toolrun.testing import Memory, run_tool

FOLDER = Path(__file__).parent


class Support(unittest.TestCase):
    def setUp(self):
        self.memory = Memory(file=FOLDER / "app.yaml", tool="support")

    def turn(self, message, answer, session_id="s1"):
        input = {"message": message, "session_id": session_id}
        return run_tool(FOLDER / "support.py", input, self.memory, mocks={"assistant": [answer]})

    def test_recalls_earlier_turns(self):
        self.assertEqual(self.turn("My cup is broken", "Which one?").check().output, {"reply": "Which one?", "recalled": 0})
        self.assertEqual(self.turn("What was broken?", "Your cup.").check().output, {"reply": "Your cup.", "recalled": 1})

    def test_finds_only_mocked_turns(self):
        mocks = {"assistant": ["Your cup."], "recall": {"conversations": [[{"content": "User: My cup is broken"}]]}}
        input = {"message": "What was broken?", "session_id": "s1"}
        result = run_tool(FOLDER / "support.py", input, self.memory, mocks=mocks, test=True).check()
        self.assertEqual(result.output, {"reply": "Your cup.", "recalled": 1})
        entry = result.remembered[0]
        self.assertEqual((entry["namespace"], entry["content"]), ("s1", "User: What was broken?\nAssistant: Your cup."))

    def test_separates_conversations(self):
        self.turn("My cup is broken", "Which one?").check()
        self.assertEqual(self.turn("What was broken?", "What?", session_id="s2").check().output["recalled"], 0)

    def test_remembers_nothing_if_the_model_fails(self):
        failed = self.turn("My cup is broken", {"error": {"code": "unavailable", "message": "no answer"}})
        self.assertEqual(failed.error["code"], "unavailable")
        self.assertEqual(self.turn("What was broken?", "What?").check().output["recalled"], 0)


if __name__ == "__main__":
    unittest.main()
