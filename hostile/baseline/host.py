# A host without precautions: it compiles the tool as a function and calls it.
import json, sys, textwrap

stores = {"own": None, "shared": {"marker": 1}, "typed": None, "vault": {"secret": "secret-of-the-host"}}
granted = ("own", "shared", "typed")


class MemoryAccessError(Exception):
    def __init__(self, code, message="", **more):
        super().__init__(message)
        self.code, self.message = code, message


class memory:
    MemoryAccessError = NotFoundError = UnavailableError = MemoryAccessError

    @staticmethod
    def get_content(store, projection=None, options=None):
        if store not in granted:
            raise MemoryAccessError("not_found", store)
        return stores[store]

    @staticmethod
    def set_content(store, value, options=None):
        stores[store] = {**(memory.get_content(store) or {}), **value}

    @staticmethod
    def delete_content(store, options=None):
        memory.get_content(store)
        stores[store] = None


def run(code, input, path):
    names = {"input": input, "context": {"steps": {}}, "memory": memory, "MemoryAccessError": MemoryAccessError}
    names["NotFoundError"] = MemoryAccessError
    exec("import asyncio, copy, decimal, logging, random, re, time\nfrom datetime import datetime", names)
    try:
        exec(compile(code, path, "exec"), names)
        return names["main"]() if "main" in names else None
    except SyntaxError:
        body = textwrap.indent(code, "    ", lambda line: True)
        exec(compile(f"async def tool():\n{body}\n", path, "exec"), names)
        return names["asyncio"].run(names["tool"]())


path, document = sys.argv[1], sys.argv[2]
sys.path.insert(0, ".")
sys.modules["memory"] = memory
report = {}
printed, sys.stdout = sys.stdout, sys.stderr
try:
    report["output"] = json.dumps(run(open(path).read(), json.load(open(document)) if document else {}, path))
except Exception as error:
    report["error"] = f"{type(error).__name__}: {error}"
intact = stores["shared"] == {"marker": 1} and stores["vault"] == {"secret": "secret-of-the-host"}
report["intact"] = intact and run("return input['a'] + input['b']", {"a": 1, "b": 2}, "benign.py") == 3
print(json.dumps(report), file=printed)
