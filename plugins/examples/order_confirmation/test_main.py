import unittest
from pathlib import Path

from brackets import Missing, names, render
from toolrun.testing import Memory, run_tool

MAIN = Path(__file__).parent / "main.py"
ORDER = {"name": "Ann", "item": "tea", "count": 3, "price": 1.5}


class Brackets(unittest.TestCase):
    def test_render(self):
        for text, values, want in (
            ("no names", {}, "no names"),
            ("[a] and [a]", {"a": "[b]"}, "[b] and [b]"),
            ("[a:05.1f]|[[a]", {"a": 2.25}, "002.2|[a]"),
            ("[text]", {"text": "its own"}, "its own"),
            ("[] [1] [a b]", {}, "[] [1] [a b]"),
        ):
            with self.subTest(text):
                self.assertEqual(render(text, **values), want)

    def test_names(self):
        self.assertEqual(names("[b] [a:x] [[c] [b]"), ["b", "a"])

    def test_missing(self):
        with self.assertRaisesRegex(Missing, r"\[a\]"):
            render("[a]")


class OrderConfirmation(unittest.TestCase):
    def setUp(self):
        self.memory = Memory({"userPreferences": {"access": "user"}}, grants={"userPreferences": "read"})

    def test_languages(self):
        for language, begins in ((None, "Thank you"), ("fr", "Merci"), ("fr-CA", "Merci"), ("xx", "Thank you")):
            with self.subTest(language):
                if language:
                    self.memory.put("userPreferences", {"language": language})
                self.assertTrue(run_tool(MAIN, ORDER, self.memory).check().output["text"].startswith(begins))


if __name__ == "__main__":
    unittest.main()
