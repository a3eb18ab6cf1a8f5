"""Tests of run_tool with every form of a tool."""

import ast
import importlib
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import toolrun.testing
from toolrun.testing import ConflictError, Memory, run_tool, runtime

STORES = {"prefs": {"access": "user"}, "cart": {"access": "session"}}


class ToolCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.memory = Memory(STORES)

    def write(self, name, code):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(code), encoding="utf-8")
        return file

    def run_code(self, code, input=None, **kwargs):
        return run_tool(self.write("tool.py", code), input, self.memory, **kwargs)

    def output(self, code, input=None, **kwargs):
        return self.run_code(code, input, **kwargs).check().output

    def folder_output(self, code):
        """Run a tool whose source is a folder."""
        self.write("main.py", code)
        return run_tool(self.folder, {}, self.memory).check().output


class Forms(ToolCase):
    def test_forms(self):
        for name, code, want in (
            ("body", "return input['a'] + b_of(input)\n", None),
            ("body with return", "n = input['a']\nif n == 1:\n    return [n, input['b']]\nreturn None\n", [1, 2]),
            ("body without return", "memory.set_content('prefs', {'n': 1})\n", None),
            ("body that awaits", "import asyncio\nawait asyncio.sleep(0)\nreturn input['a']\n", 1),
            ("body with a function", "def double(x):\n    return x * 2\nreturn double(input['b'])\n", 4),
            ("body with a star", "from math import *\nreturn floor(input['a'] + 0.5)\n", 1),
            ("body that calls main", "def main(x):\n    return x\nreturn main(input['a'])\n", 1),
            ("main by dict", "def main(input):\n    return input['a']\n", 1),
            ("main by keyword", "def main(a, b=5, *, c=7):\n    return [a, b, c]\n", [1, 2, 7]),
            ("main with the rest", "def main(a, **rest):\n    return rest\n", {"b": 2}),
            ("main with context", "def main(input, context):\n    return context['userId']\n", "user_test"),
            ("async main", "async def main(input):\n    return input['b']\n", 2),
            ("execute", "def execute(input, context):\n    return [input['a'], context['appId']]\n", [1, "test"]),
            ("async execute", "async def execute(input, context):\n    return 5\n", 5),
            ("a guard for the command line", "def main(input):\n    return 3\nif __name__ == '__main__':\n    main()\n", 3),
            ("exit", "import sys\nsys.exit(0)\n", None),
            ("lambda", "main = lambda a: a\n", 1),
            ("partial", "def save(a, b, c):\n    return [a, b, c]\nmain = functools.partial(save, c=3)\n", [1, 2, 3]),
        ):
            with self.subTest(name):
                result = self.run_code(code, {"a": 1, "b": 2})
                if name == "body":
                    self.assertEqual(result.error["message"], "NameError: name 'b_of' is not defined")
                else:
                    self.assertEqual(result.check().output, want)

    def test_invalid_calls(self):
        for code, input, message in (
            ("def main(title, note=None):\n    return 1\n", {}, "TypeError: main() requires title, but the input does not contain it"),
            ("def main(title, note=None):\n    return 1\n", {"titel": 1}, "the input has the similar key titel"),
            ("def main(data, settings):\n    return 1\n", {"a": 1}, "main() requires data"),
            ("memory.get_contents('prefs')\n", {}, "did you mean get_content?"),
            ("return {'n': float('nan')}\n", {}, "output.n is NaN; use None"),
        ):
            with self.subTest(code=code):
                result = self.run_code(code, input)
                self.assertIn(message, result.error["message"])

    def test_await_of_memory(self):
        for code in ("await memory.get_content('prefs')\n", "async def main():\n    await memory.set_content('prefs', {})\n"):
            self.assertIn("do not await memory calls", self.run_code(code).error["hint"])

    @unittest.skipIf(sys.version_info < (3, 11), "exception groups require Python 3.11")
    def test_group_reports_first_error(self):
        code = "def fail():\n    raise KeyError('a')\ntry:\n    fail()\nexcept KeyError as e:\n    raise ExceptionGroup('all', [e, e])\n"
        message = f"ExceptionGroup: all (2 sub-exceptions): KeyError: 'a' ({self.folder / 'tool.py'}:2), and 1 more"
        self.assertEqual(self.run_code(code).error["message"], message)

    def test_globals(self):
        self.assertEqual(self.output("return json.dumps({'a': math.floor(1.5)})\n"), '{"a": 1}')
        self.assertTrue(self.output("return datetime.now().isoformat()\n"))
        self.assertEqual(self.output("return [env['REGION'], context['env']['REGION']]\n", env={"REGION": "eu"}), ["eu", "eu"])
        self.assertEqual(self.output("from memory import get_content, ConflictError as C\nreturn C is ConflictError\n"), True)

    def test_declared_parameters(self):
        schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}}
        self.assertEqual(self.output("return [a, b]\n", {"a": 1}, input_schema=schema), [1, None])
        self.assertEqual(self.run_code("return 1\n", {"a": "x"}, input_schema=schema).error["code"], "input_invalid")

    def test_each_run_is_isolated(self):
        self.write("helper.py", "count = 0\n")
        code = "import helper\nhelper.count += 1\nreturn [helper.count, json.__dict__.get('mark')]\n"
        for _ in range(2):
            self.assertEqual(self.folder_output(code), [1, None])
        self.assertNotIn("helper", sys.modules)
        self.assertNotIn("memory", sys.modules)
        self.assertNotEqual(getattr(sys.modules["__main__"], "__file__", None), str(self.folder / "tool.py"))

    def test_module_imported_by_the_test(self):
        self.write("helper.py", "count = 0\n")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        helper = importlib.import_module("helper")
        self.addCleanup(sys.modules.pop, "helper")
        helper.count = 50
        self.assertEqual(self.folder_output("import helper\nhelper.count += 1\nreturn helper.count\n"), 1)
        self.assertIs(sys.modules["helper"], helper)
        self.assertEqual(helper.count, 50)

    def test_modules_in_the_folder(self):
        self.write("lib/__init__.py", "from .inner import name\n")
        self.write("lib/inner.py", "import memory\nname = 'inner'\ndef keep():\n    memory.set_content('prefs', {'a': 1})\n")
        self.assertEqual(self.folder_output("import lib\nfrom lib import inner\ninner.keep()\nreturn lib.name\n"), "inner")
        self.assertEqual(self.memory.content("prefs"), {"a": 1})

    def test_single_file_has_no_modules(self):
        self.write("helper.py", "count = 0\n")
        sys.path.insert(0, str(self.folder))  # as if the tests were run from there
        self.addCleanup(sys.path.remove, str(self.folder))
        message = self.run_code("import helper\n").error["message"]
        self.assertIn("No module named 'helper': a tool in a single file", message)
        self.assertIn("No module named 'nowhere': a tool in a single file", self.run_code("import nowhere\n").error["message"])
        self.write("main.py", "import nowhere\n")
        self.assertIn("and the modules in its folder", run_tool(self.folder).error["message"])

    def test_standard_library_takes_precedence(self):
        self.write("this.py", "raise RuntimeError('not this one')\n")
        self.write("colorsys.py", "raise RuntimeError('not this one')\n")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        code = "import colorsys\nreturn colorsys.rgb_to_hsv(0, 0, 0)\n"
        for run in (self.output, self.folder_output):
            sys.modules.pop("colorsys", None)
            self.assertEqual(run(code), [0, 0, 0])

    def test_folders(self):
        self.write("tool.json", '{"source": "src/order.py"}')
        self.write("src/order.py", "import prices\nreturn prices.PRICE\n")
        self.write("src/prices.py", "PRICE = 3\n")
        self.assertEqual(run_tool(self.folder).check().output, 3)
        self.write("tool.json", '{"source": "index.py"}')
        self.write("index.py", "import colours\nreturn colours.RED\n")
        self.write("colours.py", "RED = 1\n")
        for path in (self.folder, str(self.folder), self.folder / "index.py"):
            self.assertEqual(run_tool(path).check().output, 1)
        self.write("tool.json", "{}")
        self.assertEqual(run_tool(self.folder).check().output, 1)
        self.assertIn("a single file", run_tool(self.folder / "index.py").error["message"])

    def test_missing_tool(self):
        self.write("visit.js", "return 1")
        for path, error in (("vist.py", FileNotFoundError), (".", FileNotFoundError), ("visit.js", ValueError)):
            with self.subTest(path), self.assertRaises(error):
                run_tool(self.folder / path)


class Types(unittest.TestCase):
    def test_names_equal_the_globals(self):
        Memory({})  # the first memory creates the module memory
        tree = ast.parse((Path(toolrun.testing.__file__).parent.parent / "tool.pyi").read_text(encoding="utf-8"))
        aliases = [alias for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
        names = {alias.asname for alias in aliases if alias.asname}
        names.update(node.target.id for node in tree.body if isinstance(node, ast.AnnAssign))
        self.assertEqual(names, {*runtime.tool_globals.constant_names(runtime.modules()), *runtime.tool_globals.RUN_NAMES})


class Outcomes(ToolCase):
    def test_failed_run_stores_nothing(self):
        result = self.run_code("memory.set_content('prefs', {'a': 1})\nraise ValueError('no such colour')\n")
        self.assertEqual(result.error, {"code": "tool_error", "message": "ValueError: no such colour"})
        self.assertIsNone(self.memory.content("prefs"))
        with self.assertRaises(ValueError):
            result.check()

    def test_context_changes(self):
        for value, want in ((True, {"n": True}), (1.0, {"n": 1.0}), (1, {})):
            changed = self.run_code(f"context['n'] = {value}\n", context={"n": 1}).context
            self.assertEqual(repr(changed), repr(want))

    def test_invalid_output(self):
        for code, want in (
            ("a = []\nfor _ in range(150):\n    a = [a]\nreturn a\n", "output_invalid"),
            ("return {1: 1, '1': 2}\n", "output_invalid"),
            ("context['text'] = 'x' * (2 << 20)\n", "output_limit"),
        ):
            self.assertEqual(self.run_code(code).error["code"], want, code)

    def test_uncaught_fault_keeps_its_code(self):
        result = self.run_code("memory.set_content('prefs', {}, {'if_revision': 3})\n")
        self.assertEqual((result.error["code"], result.error["store"]), ("conflict", "prefs"))
        with self.assertRaises(ConflictError):
            result.check()

    def test_fault_created_by_the_tool_is_tool_error(self):
        result = self.run_code("raise ConflictError('conflict', 'made up')\n")
        self.assertEqual(result.error, {"code": "tool_error", "message": "ConflictError: made up"})

    def test_fault_of_an_earlier_run_is_tool_error(self):
        self.addCleanup(vars(textwrap).pop, "kept", None)
        self.run_code("try:\n    memory.get_content('nope')\nexcept NotFoundError as error:\n    textwrap.kept = error\n")
        error = self.run_code("raise textwrap.kept\n").error
        self.assertEqual((error["code"], error["message"][:15]), ("tool_error", "NotFoundError: "))

    def test_caught_fault(self):
        code = "try:\n    memory.get_content('nope')\nexcept NotFoundError as error:\n    return error.code\n"
        self.assertEqual(self.output(code), "not_found")

    def test_source_and_output_errors(self):
        self.assertEqual(self.run_code("return (\n").error["code"], "source_invalid")
        result = self.run_code("return {'items': [1, {1, 2}]}\n")
        self.assertEqual(result.error["code"], "output_invalid")
        self.assertIn("output.items[1] is a set", result.error["message"])
        self.assertEqual(self.run_code("return 'x' * (1 << 20)\n").error["code"], "output_limit")
        result = self.run_code("return 1\n", output_schema={"type": "string"})
        self.assertEqual(result.error["code"], "output_invalid")
        self.assertEqual(result.effects, {"reads": [], "writes": []})
        self.assertEqual(self.run_code("import sys\nsys.exit(3)\n").error["message"], "the tool exited with code 3")

    def test_context(self):
        code = "context['added'] = {'n': 1}\ncontext['given'].append(2)\ncontext['same'] = 1\n"
        result = self.run_code(code, context={"given": [1], "same": 1}).check()
        self.assertEqual(result.context, {"added": {"n": 1}, "given": [1, 2]})
        result = self.run_code("context['steps']['a'] = 1\n")
        self.assertEqual(result.error["code"], "output_invalid")
        self.assertIn("is reserved for the workflow", result.error["message"])
        self.assertEqual(self.output("return context['steps']['one']['output']\n", context={"steps": {"one": {"output": 5}}}), 5)

    def test_logs(self):
        code = """
            import logging, sys
            print("one")
            print("two", file=sys.stderr)
            logging.getLogger("tool").error("three %d", 3)
            logging.debug("four")
            sys.stdout.write("five")
        """
        got = [(line["level"], line["text"]) for line in self.run_code(code).check().logs]
        self.assertEqual(got, [("info", "one"), ("error", "two"), ("error", "three 3"), ("debug", "four"), ("info", "five")])

    def test_event_loop_logs_nothing(self):
        for code in ("async def main():\n    return 1\n", "async def main():\n    raise ValueError\n"):
            self.assertEqual(self.run_code(code).logs, [])

    def test_memory_at_the_top_level(self):
        result = self.run_code("known = memory.get_content('prefs')\ndef main(input):\n    return known\n")
        self.assertEqual(result.error["code"], "invalid_argument")
        self.assertIn("only available in the entry", result.error["message"])

    def test_warnings(self):
        for code, warning in (
            ("def helper():\n    return 1\n", "nothing calls the function helper"),
            ("def mian():\n    return 1\n", "did you mean main?"),
            ("class Tool:\n    def main(self):\n        return 1\n", "the tool returns nothing"),
            ("", "the tool returns nothing"),
        ):
            self.assertIn(warning, self.run_code(code).warnings[0])
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        self.memory = Memory({"prefs": {"access": "user", "schema": schema}})
        result = self.run_code("memory.set_content('prefs', {'a': 'x'})\n")
        self.assertEqual(result.warnings, ['the content was stored, but it violates the schema of prefs: /a: must be of type "integer"'])

    def test_effects(self):
        result = self.run_code("memory.get_content('prefs')\nmemory.set_content('cart', {'n': 1})\n").check()
        self.assertEqual(result.effects["reads"], [{"store": "prefs", "revision": 0}])
        self.assertEqual(result.effects["writes"], [{"store": "cart", "revision": 1, "op": "set"}])

    def test_grants(self):
        self.memory = Memory(STORES, grants={"prefs": "read"})
        self.assertEqual(self.run_code("memory.set_content('prefs', {})\n").error["code"], "access_denied")

    def test_no_user(self):
        self.memory = Memory(STORES, user=None)
        self.assertEqual(self.run_code("return memory.get_content('prefs')\n").error["code"], "no_user")
        self.assertIsNone(self.output("return context['userId']\n"))

    def test_input_that_is_not_json(self):
        with self.assertRaisesRegex(TypeError, "the test passes a value that is not JSON: input.a"):
            self.run_code("return 1\n", {"a": {1}})


class Models(ToolCase):
    ASK = """
        import model
        request = {"messages": [{"role": "user", "content": "hello"}]}
        first = model.chat("local", request)
        second = model.chat(name="local", request={**request, "schema": {"type": "object"}})
        memory.set_content("prefs", {"first": first["text"]})
        return second["object"]
        """

    def test_mocks(self):
        for mocks, code in (
            (None, "access_denied"),
            ({"local": ["only one"]}, "unavailable"),
            ({"local": ["a text", {"error": {"code": "timeout"}}]}, "timeout"),
        ):
            self.assertEqual(self.run_code(self.ASK, mocks=mocks).error["code"], code)
        self.assertIsNone(self.memory.content("prefs"))
        self.assertEqual(self.output(self.ASK, mocks={"local": ["a text", {"object": {"n": 1}}]}), {"n": 1})
        self.assertEqual(self.memory.content("prefs"), {"first": "a text"})

    def test_own_module(self):
        self.write("model.py", "chat = 7")
        self.assertEqual(self.folder_output("import model\nreturn model.chat"), 7)
        self.assertNotIn("model", sys.modules)


class TestRuns(ToolCase):
    ANSWER = """
        found = memory.recall("kb", "tea", {"threshold": 0.5})
        memory.remember("kb", "green tea", {"namespace": "s1", "id": "g", "metadata": {"kind": "tea"}})
        memory.set_content("notes", {"n": found["count"]})
        return [r["content"] for r in found["results"]]
        """

    def test_test_run(self):
        self.memory = Memory({"kb": {"kind": "collection", "access": "application"}, "notes": {"access": "user"}})
        result = self.run_code(self.ANSWER, test=True).check()
        entry = {"collection": "kb", "namespace": "s1", "id": "g", "content": "green tea", "metadata": {"kind": "tea"}}
        self.assertEqual((result.output, result.remembered), ([], [entry]))
        self.assertEqual([change["store"] for change in result.changes], ["kb", "notes"])
        self.assertIsNone(self.memory.content("notes"))
        mocks = {"recall": {"kb": [["black tea", {"content": "x", "score": 0.5}]]}}
        self.assertEqual(self.run_code(self.ANSWER, mocks=mocks, test=True).check().output, ["black tea", "x"])
        self.assertIsNone(self.memory.content("notes"))
        self.assertEqual(self.run_code(self.ANSWER, mocks=mocks).check().remembered, [])
        self.assertEqual(self.memory.content("notes"), {"n": 2})


class Workflows(ToolCase):
    def test_facts(self):
        file = self.write("app.yaml", "app: flow\nfacts:\n  workflow.step: {type: number}\n")
        memory = Memory(file=file, workflow="w1")
        read = self.write("read.py", 'return memory.get_fact("workflow.step")')
        run_tool(self.write("set.py", 'memory.set_fact("workflow.step", 3)'), {}, memory).check()
        self.assertEqual(run_tool(read, {}, memory.caller(session="another")).check().output, 3)
        self.assertIsNone(run_tool(read, {}, memory.caller(workflow="w2")).check().output)
        self.assertIsNone(run_tool(read, {}, memory.caller(workflow=None)).check().output)
        memory.end_workflow()
        self.assertEqual(run_tool(read, {}, memory).error["code"], "workflow_ended")


if __name__ == "__main__":
    unittest.main()
