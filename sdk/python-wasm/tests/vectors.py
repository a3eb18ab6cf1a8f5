"""Plays the vectors of a file on the double. As a program it lists, as JSON, where the double answers otherwise."""

import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from toolrun.testing import Limits, Memory, MemoryAccessError

FILE = Path(__file__).with_name("vectors.json")
_START = datetime(2030, 1, 1, tzinfo=timezone.utc)
_UNITS = {"h": 3600, "m": 60, "s": 1}


def read(file=FILE):
    """Return the vectors of a file."""
    return json.loads(Path(file).read_text(encoding="utf-8"))["vectors"]


def play(vector):
    """Play a vector; return the differences, each with what was expected and what came."""
    memory = Memory(
        vector["stores"],
        user=None,
        session=None,
        grants=vector.get("grants"),
        limits=Limits(**vector.get("limits", {})),
        clock=lambda: _START,
    )
    differences = []
    for number, run in enumerate(vector["runs"], 1):
        memory.advance(timedelta(seconds=_seconds(run.get("after", ""))))
        if "ends" in run:
            memory.caller(session=run["ends"]).end_session()
        where = f"{vector['name']}, run {number}"
        differences += _Run(memory.caller(user=run.get("user"), session=run.get("session")), run, where, number).play()
    return differences


class _Fails(Exception):
    """What a tool fails with."""


class _Run:
    def __init__(self, memory, run, where, number):
        self.memory, self.run, self.where, self.number = memory, run, where, number
        self.differences = []

    def play(self):
        fault = None
        try:
            if "metadata" in self.run:
                self.memory.set_metadata(self.run["metadata"])
            with self.memory.run(f"run_{self.number}"):
                self._calls()
        except MemoryAccessError as error:
            fault = _told(error)
        except _Fails:
            return self.differences
        self._compare("fault", self.run.get("fault"), fault)
        if fault is None:
            self._compare("effects", self.run.get("effects"), self.memory.effects)
        return self.differences

    def _calls(self):
        for number, call in enumerate(self.run["calls"], 1):
            reply, fault = None, None
            try:
                reply = getattr(self.memory, call["op"])(*call["args"])
            except MemoryAccessError as error:
                fault = _told(error)
            self._compare(f"call {number}: {call['op']}{call['args']}", call.get("fault"), fault)
            self._compare(f"call {number}: {call['op']}{call['args']}", call.get("reply"), reply)
        if self.run.get("fails"):
            raise _Fails

    def _compare(self, what, want, got):
        # Through JSON: to Python, true equals 1.
        if json.dumps(want, sort_keys=True) != json.dumps(got, sort_keys=True):
            self.differences.append({"where": f"{self.where}, {what}", "want": want, "got": got})


def _told(error):
    told = {"code": error.code, "message": error.message, "op": error.op, "store": error.store, "hint": error.hint}
    told = {key: value for key, value in told.items() if value}
    return {**told, "violations": error.violations} if error.violations else told


def _seconds(duration):
    total, count = 0, ""
    for letter in duration:
        if letter.isdigit():
            count += letter
        else:
            total, count = total + int(count) * _UNITS[letter], ""
    return total


if __name__ == "__main__":
    json.dump([difference for vector in read(sys.argv[1]) for difference in play(vector)], sys.stdout)
