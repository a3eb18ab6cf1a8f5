"""Runs a module of CPython's own tests as a tool, and answers how each test ended.

What the tests import is in the tool's folder, and is found there since a function put before this text names it.
"""

import builtins
import importlib
import io
import os
import sys
import unittest


class Outcomes(unittest.TestResult):
    """Notes a word for each test, and what a failure said."""

    def __init__(self):
        super().__init__()
        self.of = {}

    def note(self, test, outcome, text=""):
        # A part of a test may have failed before the whole ends.
        if not self.of.get(test.id(), "").startswith("failed"):
            self.of[test.id()] = f"{outcome} {text[:300]}"

    def addSuccess(self, test):
        self.note(test, "passed")

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)

    def addFailure(self, test, error):
        self.note(test, "failed", f"{error[0].__name__}: {error[1]}")

    addError = addFailure

    def addSubTest(self, test, part, error):
        if error:
            self.addFailure(test, error)

    def addExpectedFailure(self, test, error):
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "unexpected success")


def serve_files(files):
    """Have the tests find files that the input brings, for a tool has none."""
    real = builtins.open

    def open(name, *args, **kwargs):
        return io.StringIO(files[name]) if name in files else real(name, *args, **kwargs)

    builtins.open = open
    os.listdir = lambda folder: [name.removeprefix(folder) for name in files if name.startswith(folder)]
    os.path.isdir = lambda folder: any(name.startswith(folder) for name in files)


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def load(module):
    """The tests of a module."""
    tests = importlib.import_module(module)
    loader = unittest.defaultTestLoader
    if module == "test.test_decimal":
        return (test for case in cases_of_decimal(tests) for test in loader.loadTestsFromTestCase(case))
    return tests_of(loader.loadTestsFromModule(tests))


def cases_of_decimal(tests):
    """What test_decimal.test_main does: prepares the modules that it tests, and adds a test for each file of sums."""
    tests.TEST_ALL, tests.DEBUG = True, False
    for decimal in (tests.C, tests.P):
        tests.init(decimal)
    for file in os.listdir(tests.directory):
        name = file.partition(".")[0]
        for case in (tests.CIBMTestCases, tests.PyIBMTestCases):
            setattr(case, f"test_{name}", lambda self, file=file: self.eval_file(tests.directory + file))
    return tests.all_tests


def main(module, files):
    serve_files(files)
    if module == "test.test_decimal":
        sys.modules["_pydecimal"] = importlib.import_module(
            "pure.decimal"
        )  # which the interpreter's library is without
    outcomes = Outcomes()
    unittest.TestSuite(load(module)).run(outcomes)
    return outcomes.of
