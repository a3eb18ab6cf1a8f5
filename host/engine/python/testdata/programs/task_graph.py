"""A spreadsheet: cells with formulas, evaluated in the order of their dependencies. Cycles are reported."""

import re

CELLS = {
    "A1": "5",
    "A2": "=A1*2",
    "A3": "=SUM(A1:A2)+B1",
    "B1": "=IF(A1>3,10,20)",
    "B2": "=A3/B3",
    "B3": "0",
    "C1": "=C2",
    "C2": "=C1+1",
    "D1": "text",
    "D2": '=D1&"!"',
    "D3": "=MAX(A1:B1)",
}
CELL = re.compile(r"\b([A-Z]\d)\b")


class Sheet:
    def __init__(self, cells):
        self.cells, self.values, self.open = cells, {}, []

    def __getitem__(self, name):
        if name in self.open:
            raise RecursionError("circle " + " ".join(self.open[self.open.index(name) :] + [name]))
        if name not in self.values:
            self.open.append(name)
            try:
                self.values[name] = self.compute(self.cells.get(name, ""))
            finally:
                self.open.pop()
        return self.values[name]

    def compute(self, text):
        if not text.startswith("="):
            return int(text) if text.isdigit() else text
        code = re.sub(r"([A-Z])(\d):([A-Z])(\d)", self.area, text[1:])
        code = CELL.sub(r'cell["\1"]', code).replace("&", "+")
        return eval(
            code,
            {"__builtins__": {}},
            {"cell": self, "SUM": lambda *v: sum(v), "MAX": max, "IF": lambda test, a, b: a if test else b},
        )

    @staticmethod
    def area(match):
        a, b, c, d = match.groups()
        return ",".join(f"{chr(x)}{y}" for x in range(ord(a), ord(c) + 1) for y in range(int(b), int(d) + 1))

    def show(self, name):
        try:
            return self[name]
        except (RecursionError, ZeroDivisionError) as error:
            return f"#{type(error).__name__} {error}"


sheet = Sheet(CELLS)
return {name: sheet.show(name) for name in sorted(CELLS)}
