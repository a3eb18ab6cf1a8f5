import unittest
from pathlib import Path

from toolrun.testing import Memory, run_tool

MAIN = Path(__file__).parent / "main.py"


class RouteTicket(unittest.TestCase):
    def setUp(self):
        self.memory = Memory({"supportHistory": {"access": "user"}})

    def route(self, **output):
        return run_tool(MAIN, {}, self.memory, context={"steps": {"classify": {"output": output}}})

    def test_routes(self):
        for category, queue in (("billing", "finance"), ("technical", "engineering"), ("unheard of", "support")):
            with self.subTest(category):
                self.assertEqual(self.route(category=category).check().context["queue"], queue)

    def test_third_ticket_is_urgent(self):
        priorities = [self.route(category="billing").check().context["priority"] for _ in range(3)]
        self.assertEqual(priorities, ["normal", "normal", "high"])

    def test_needs_the_earlier_node(self):
        result = run_tool(MAIN, {}, self.memory)
        self.assertEqual(result.error["code"], "tool_error")
        self.assertIsNone(self.memory.content("supportHistory"))


if __name__ == "__main__":
    unittest.main()
