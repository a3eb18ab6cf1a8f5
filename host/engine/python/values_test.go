package python_test

import (
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
)

func TestValues(t *testing.T) {
	runAll(t, []tool{
		{name: "exact numbers", code: "return [input['a'], 2**120, 0.1 + 0.2, 1e300, -0.0]", input: `{"a":12345678901234567890}`, want: `[12345678901234567890,1329227995784915872903807060280344576,0.30000000000000004,1e+300,-0.0]`},
		{name: "containers", code: "from collections import OrderedDict, Counter, namedtuple\nP = namedtuple('P', 'x y')\nreturn [(1, 2), OrderedDict(a=1), Counter('aa'), P(1, 2), {1: 2, None: 3, True: 4}]", want: `[[1,2],{"a":1},{"a":2},[1,2],{"1":4,"null":3}]`},
		{name: "enumerations", code: "import enum\nclass E(enum.IntEnum):\n    A = 1\nclass S(enum.StrEnum):\n    B = 'b'\nreturn [E.A, S.B]", want: `[1,"b"]`},
		{name: "a set", code: "return {'a': [1, {2}]}", fault: abi.OutputInvalid, message: "output.a[1] is a set; use list(...)"},
		{name: "bytes", code: "return {'a b': b'x'}", fault: abi.OutputInvalid, message: `output["a b"] is bytes; decode it`},
		{name: "a date", code: "return datetime(2031, 1, 1)", fault: abi.OutputInvalid, message: "output is a datetime; use isoformat()"},
		{name: "a decimal", code: "return decimal.Decimal(1)", fault: abi.OutputInvalid, message: "output is a Decimal; use str(...)"},
		{name: "an object", code: "class Thing:\n    pass\nreturn [Thing()]", fault: abi.OutputInvalid, message: "output[0] is an instance of Thing; use vars(...) or a dict"},
		{name: "an object of the library", code: "return re.match('a', 'a')", fault: abi.OutputInvalid, message: "output is an instance of Match"},
		{name: "a dataclass", code: "@dataclasses.dataclass\nclass Point:\n    x: int\nreturn Point(1)", fault: abi.OutputInvalid, message: "output is an instance of Point; use dataclasses.asdict(...)"},
		{name: "a function", code: "return {'f': len}", fault: abi.OutputInvalid, message: "output.f is a function"},
		{name: "a class", code: "return int", fault: abi.OutputInvalid, message: "output is the class int"},
		{name: "a generator", code: "return (x for x in [1])", fault: abi.OutputInvalid, message: "output is a generator; use list(...)"},
		{name: "a coroutine", code: "async def f():\n    pass\nreturn [f()]", fault: abi.OutputInvalid, message: "output[0] is a coroutine; is an await missing?"},
		{name: "NaN", code: "return float('nan')", fault: abi.OutputInvalid, message: "output is NaN; use None"},
		{name: "infinite", code: "return [1, -float('inf')]", fault: abi.OutputInvalid, message: "output[1] is infinite; use None"},
		{name: "a cycle", code: "a = []\na.append([a])\nreturn a", fault: abi.OutputInvalid, message: "output[0][0] contains itself"},
		{name: "half a character", code: "return ['\\ud800']", fault: abi.OutputInvalid, message: "output[0] contains an unpaired surrogate"},
		{name: "half a character in a key", code: "return {'\\ud800': 1}", fault: abi.OutputInvalid, message: "a key of output contains an unpaired surrogate"},
		{name: "a key that is not a string", code: "return {(1, 2): 3}", fault: abi.OutputInvalid, message: "output has a key that is a tuple"},
		{name: "a key twice", code: "return {1: 2, '1': 3}", fault: abi.OutputInvalid, message: "same member name twice"},
		{name: "a number with many digits", code: "return [10 ** 50]", fault: abi.OutputInvalid, message: "output[0]"},
		{name: "a number with far too many digits", code: "return [10 ** 5000]", fault: abi.OutputInvalid, message: "output cannot be written"},
		{name: "far too deep", code: "a = []\nfor _ in range(100000):\n    a = [a]\nreturn a", fault: abi.OutputInvalid, message: "deeper than 100 levels"},
		{name: "a dict that raises", code: "class D(dict):\n    def items(self):\n        raise ValueError('no items')\nreturn D(a=1)", fault: abi.ToolError, message: "ValueError: no items", place: `["tool.py",3,9]`},
		{name: "an output that changes the context", code: "context['x'] = {1}\n", fault: abi.OutputInvalid, message: "context.x is a set"},
		{name: "a context with a bad key", code: "context[1] = 1\n", fault: abi.OutputInvalid, message: "context has a key that is not a string"},
		{name: "the context of the workflow", code: "context['status'] = 1\n", fault: abi.OutputInvalid, message: `context["status"] is reserved for the workflow`},
		{name: "the steps, read", code: "return context['steps']['Start']['x']", env: `{"steps":{"Start":{"x":1}}}`, want: `1`},
		{name: "an argument that is too deep", code: "a = 1\nfor _ in range(150):\n    a = [a]\nmemory.set_content('prefs', a)", fault: abi.TooLarge, message: "nested deeper"},
		{name: "too many arguments", code: "memory.get_content('prefs', {}, {}, 1)", fault: abi.InvalidArgument, message: "takes at most 3 arguments, not 4", place: `["tool.py",1,1]`},
		{name: "an argument twice", code: "memory.get_content('prefs', store_name='prefs')", fault: abi.InvalidArgument, message: "received the argument store twice"},
	})
}

func TestLogs(t *testing.T) {
	runAll(t, []tool{
		{name: "print", code: "import sys\nprint('a', 1, sep='-')\nprint('b', end='')\nprint('c\\nd')\nprint('e', file=sys.stderr)\nprint('f', end='')", want: `null`,
			logs: []string{"info a-1", "info bc", "info d", "error e", "info f"}},
		{name: "logging", code: "for level in ('debug', 'info', 'warning', 'error', 'critical'):\n    getattr(logging, level)('it is %s', level)\nlogging.getLogger('mine').info('x')", want: `null`,
			logs: []string{"debug it is debug", "info it is info", "warn it is warning", "error it is error", "error it is critical", "info x"}},
		{name: "logging of an exception", code: "try:\n    1 / 0\nexcept Exception:\n    logging.exception('oh')", want: `null`,
			logs: []string{"error oh\nTraceback (most recent call last):\n  File \"tool.py\", line 2, in <module>\n    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero"}},
		{name: "logging of an exception of the library", code: "try:\n    json.loads('{')\nexcept Exception:\n    logging.exception('oh')", want: `null`,
			logs: []string{"error oh\nTraceback (most recent call last):\n  File \"tool.py\", line 2, in <module>\n    json.loads('{')\n  File \"<python>/json/__init__.py\", line 346, in loads\n  File \"<python>/json/decoder.py\", line 337, in decode\n" +
				"  File \"<python>/json/decoder.py\", line 353, in raw_decode\njson.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"}},
		{name: "the files of the library", code: "import email.message, logging.handlers, sys, types, urllib.request, xml.dom.minidom, zipfile\n" +
			"def codes(value, deeper=True):\n    for item in list(vars(value).values()):\n        if isinstance(item, types.FunctionType):\n            yield item.__code__.co_filename\n        elif isinstance(item, type) and deeper:\n            yield from codes(item, False)\n" +
			"return sorted({name for module in list(sys.modules.values()) for name in codes(module) if not name.startswith(('<frozen ', '<python>/', '<toolrun>/', '<string>', 'tool.py'))})", want: `[]`},
		{name: "warnings", code: "import warnings\nwarnings.warn('old')", want: `null`, logs: []string{"warn tool.py:2: UserWarning: old"}},
		{name: "half a character", code: "logging.info('\\ud800')\nprint('ok')", want: `null`, logs: []string{"info ?", "info ok"}},
		{name: "streams that were closed", code: "import sys\nsys.stdout.close()\nsys.stderr = None\nreturn 1", want: `1`},
		{name: "a coroutine without await", code: "async def f():\n    pass\nf()", want: `null`, logs: []string{"warn tool.py:3: RuntimeWarning: coroutine 'f' was never awaited"}},
		{name: "the top of a module logs in each run", code: "print('top')\ndef main():\n    print('run')", want: `null`, logs: []string{"info top", "info run"}},
	})
}

func TestAsyncio(t *testing.T) {
	runAll(t, []tool{
		{name: "run", code: "import asyncio\nasync def f():\n    await asyncio.sleep(0.001)\n    return 1\nreturn asyncio.run(f())", want: `1`},
		{name: "gather", code: "import asyncio\nasync def f(n):\n    await asyncio.sleep(n / 1000)\n    return n\nasync def main():\n    return await asyncio.gather(f(3), f(1), f(2))", want: `[3,1,2]`},
		{name: "wait_for", code: "import asyncio\nasync def main():\n    try:\n        await asyncio.wait_for(asyncio.sleep(60), 0.001)\n    except TimeoutError:\n        return 'late'", want: `"late"`},
		{name: "queues and tasks", code: "import asyncio\nasync def main():\n    q = asyncio.Queue()\n    async with asyncio.TaskGroup() as g:\n        g.create_task(q.put(1))\n    return await q.get()", want: `1`},
		{name: "stuck", code: "import asyncio\nasync def main():\n    await asyncio.Queue().get()", fault: abi.ToolError, message: "the tool waits forever"},
		{name: "memory", code: "async def main():\n    memory.set_content('counter', {'n': 1})\n    return memory.get_content('counter')['n']", want: `1`},
		{name: "sleep", code: "import time\nbegun = time.monotonic()\ntime.sleep(0.002)\nreturn time.monotonic() - begun >= 0.002", want: `true`},
	})
}

func TestModules(t *testing.T) {
	files := fstest.MapFS{
		"helper.py":            {Data: []byte("import other\nVALUE = other.VALUE + 1\nname = __name__\nfile = __file__\n")},
		"other.py":             {Data: []byte("VALUE = 1\n")},
		"pack/__init__.py":     {Data: []byte("from .inner import deep\n")},
		"pack/inner.py":        {Data: []byte("from . import sibling\nfrom ..helper import x\n"[:22] + "deep = sibling.N\n")},
		"pack/sibling.py":      {Data: []byte("N = 7\n")},
		"pack/sub/__init__.py": {},
		"pack/sub/leaf.py":     {Data: []byte("from ..sibling import N\nfrom .. import inner\ndef get():\n    return N + inner.deep\n")},
		"late.py":              {Data: []byte("N = 9\n")},
		"json.py":              {Data: []byte("raise RuntimeError('not this one')\n")},
		"memory.py":            {Data: []byte("raise RuntimeError('not this one')\n")},
		"top.py":               {Data: []byte("import memory\nx = memory.get_content('counter')\n")},
		"calls.py":             {Data: []byte("import memory\ndef get():\n    return memory.get_content('counter')\n")},
		"dyn.py":               {Data: []byte("N = 1\n")},
		"namespace/module.py":  {Data: []byte("N = 3\n")},
	}
	runAll(t, []tool{
		{name: "of a module", files: files, code: "import helper\ndef main():\n    return [helper.VALUE, helper.name, helper.file]", want: `[2,"helper","helper.py"]`},
		{name: "of a package", files: files, code: "import pack\nfrom pack.sub import leaf\nreturn [pack.deep, leaf.get()]", want: `[7,14]`},
		{name: "within a function", files: files, code: "def main():\n    from late import N\n    return N", want: `9`},
		{name: "the library comes first", files: files, code: "import json, memory\nreturn json.dumps(memory.get_content('counter'))", want: `"null"`},
		{name: "that calls memory at its top", files: files, code: "import top\ndef main():\n    return 1", fault: abi.InvalidArgument, place: `["top.py",2,5]`},
		{name: "that calls memory", files: files, code: "import calls\ndef main():\n    return calls.get()", want: `null`},
		{name: "by a computed name", files: files, code: "import importlib\nreturn importlib.import_module('d' + 'yn').N", fault: abi.ToolError, message: "No module named 'dyn'"},
		{name: "of a folder that is not a package", files: files, code: "from namespace.module import N\nreturn N", want: `3`},
		{name: "without files", code: "import helper\ndef main():\n    return 1", fault: abi.ToolError, message: "No module named 'helper': a tool in a single file"},
	})
}
