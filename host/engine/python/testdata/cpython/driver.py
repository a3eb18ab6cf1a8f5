"""Runs a module of CPython's own tests as a tool, and returns the outcome of each test.

The modules that the tests import are in the tool's folder. The Go test adds a function with import statements before
this text, so the engine finds these modules.
"""

import builtins
import importlib
import io
import os
import sys
import unittest


class Outcomes(unittest.TestResult):
    """Records the outcome of each test, with the text of a failure."""

    def __init__(self):
        super().__init__()
        self.of = {}

    def note(self, test, outcome, text=""):
        # If a part of a test has failed, the test has failed.
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
    """Replace functions so that the tests find the files in the input, because a tool has no files."""
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
    """Return the tests of a module."""
    tests = importlib.import_module(module)
    loader = unittest.defaultTestLoader
    if module == "test.test_decimal":
        return (test for case in cases_of_decimal(tests) for test in loader.loadTestsFromTestCase(case))
    return tests_of(loader.loadTestsFromModule(tests))


def cases_of_decimal(tests):
    """Do the same as test_decimal.test_main: prepare the tested modules, and add a test for each file of calculations."""
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
        )  # the interpreter's own library does not have this module
    outcomes = Outcomes()
    unittest.TestSuite(load(module)).run(outcomes)
    return outcomes.of
