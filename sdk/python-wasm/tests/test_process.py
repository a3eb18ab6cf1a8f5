"""Tests of the process that serves the memory: how it is found, ended and restarted."""

import gc
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

from toolrun.testing import AccessDeniedError, Memory, NotFoundError, ToolrunError, process, run_tool

SDK = Path(__file__).parent.parent
USER = {"prefs": {"access": "user"}}


class Process(unittest.TestCase):
    def setUp(self):
        process.shared.close()
        self.addCleanup(process.shared.close)

    def test_without_toolrun(self):
        for variables, message in (
            ({"PATH": "/nowhere", "TOOLRUN": ""}, "not on PATH.*set the variable TOOLRUN"),
            ({"TOOLRUN": "/nowhere/toolrun"}, "TOOLRUN is '/nowhere/toolrun', which is not a program"),
        ):
            with self.subTest(variables), mock.patch.dict(os.environ, variables), self.assertRaisesRegex(ToolrunError, message):
                Memory(USER)

    def test_process_that_ends(self):
        memory = Memory(USER)
        process.shared._child.kill()
        with self.assertRaisesRegex(ToolrunError, "ended with exit code -9"):
            memory.content("prefs")
        Memory(USER).put("prefs", {"a": 1})  # in a process of its own

    def test_other_program(self):
        with mock.patch.dict(os.environ, {"TOOLRUN": sys.executable}), self.assertRaisesRegex(ToolrunError, "exit code 2"):
            Memory(USER)

    def test_it_ends_with_the_tests(self):
        code = "from toolrun.testing import Memory, process; m = Memory({}); print(process.shared._child.pid)"
        if sys.platform == "linux":
            code += "; import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
        found = subprocess.run([sys.executable, "-u", "-c", code], cwd=SDK, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        # The child shares the standard error. The stream reaches end of file only after both processes have
        # ended.
        self.assertRegex(found.stdout.decode(), r"^\d+\n$")

    def test_fork_starts_its_own_process(self):
        if not hasattr(os, "fork"):
            self.skipTest("this system has no fork")
        memory = Memory(USER)
        before = process.shared._child.pid
        child = os.fork()
        if child == 0:
            try:
                warnings.simplefilter("ignore", ResourceWarning)  # about objects of the parent process
                Memory(USER).put("prefs", {"in": "the fork"})
                own = process.shared._child.pid
                process.shared.close()
                os._exit(2 if own == before else 0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertIsNone(memory.content("prefs"))

    def test_unused_memories_are_closed(self):
        for _ in range(1200):  # more than a process can keep
            Memory({})
        gc.collect()
        Memory(USER).put("prefs", {})

    def test_callers_with_many_grants(self):
        memory = Memory({f"s{n}": {"access": "user"} for n in range(7)})
        callers = [memory.caller(grants={f"s{n}": "read" for n in range(7) if i & 1 << n}) for i in range(100)]
        for i in (0, 99, 1, 98):
            with self.subTest(i):
                granted = [n for n in range(7) if _may_read(callers[i], f"s{n}")]
                self.assertEqual(granted, [n for n in range(7) if i & 1 << n])


def _may_read(memory, store):
    try:
        memory.get_content(store)
    except NotFoundError:
        return False
    return True


class AppFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("schema.json", '{"type": "object", "properties": {"item": {"type": "string"}}}')
        self.write("order.py", 'memory.set_content("orders", {"item": input["item"]})\n')
        self.write("app.yaml", """
app: shop
memory: {orders: {access: user, strict: true, schema: schema.json}}
tools:
  order:
    source: order.py
    description: Order something
    inputSchema: {type: object, required: [item], properties: {item: {}}}
    grants: {orders: write}
""")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def test_tool_of_an_app_file(self):
        memory = Memory(file=self.folder / "app.yaml", tool="order", user="ann")
        run_tool(self.folder / "order.py", {"item": "tea"}, memory).check()
        self.assertEqual(memory.content("orders"), {"item": "tea"})
        self.assertEqual(run_tool(self.folder / "order.py", {"item": 5}, memory).error["code"], "schema_violation")
        self.assertEqual(run_tool(self.folder / "order.py", {}, memory).error["code"], "input_invalid")
        self.assertFalse(_is_granted(memory, "get_content"))
        self.assertTrue(_is_granted(memory.caller(grants={"orders": "read"}), "get_content"))

    def test_app_file_with_mistakes(self):
        self.write("app.yaml", "app: shop\nmemory: {orders: {access: usr}}\n")
        with self.assertRaisesRegex(ValueError, 'app.yaml:2:.*the value "usr" is not valid for the key `access`'):
            Memory(file=self.folder)

    def test_either_stores_or_a_file(self):
        for known in ({}, {"stores": {}, "file": "app.yaml"}):
            with self.assertRaises(ValueError):
                Memory(**known)


def _is_granted(memory, op):
    try:
        getattr(memory, op)("orders")
    except AccessDeniedError:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
