package python_test

import (
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

func TestFailures(t *testing.T) {
	helper := fstest.MapFS{"lib/helper.py": {Data: []byte("def fail(x):\n    return 1 / x\n")}, "lib/__init__.py": {}}
	runAll(t, []tool{
		{name: "raised in a body", code: "a = 'ü'\n\nprint(a); raise ValueError('no ' + a)", fault: abi.ToolError, message: "ValueError: no ü", place: `["tool.py",3,11]`,
			stack: "    at <module> (tool.py:3:11)"},
		{name: "raised in a function", code: "def f(x):\n    return 'ü', x['a']\ndef main():\n    return f({})", fault: abi.ToolError, message: "KeyError: 'a'", place: `["tool.py",2,17]`,
			stack: "    at f (tool.py:2:17)\n    at main (tool.py:4:12)"},
		{name: "raised in a module", code: "from lib.helper import fail\ndef main():\n    return fail(0)", files: helper, fault: abi.ToolError, message: "ZeroDivisionError: division by zero",
			place: `["lib/helper.py",2,12]`, stack: "    at fail (lib/helper.py:2:12)\n    at main (tool.py:3:12)"},
		{name: "raised in the library", code: "import json\ndef main():\n    return json.loads('{')", fault: abi.ToolError, message: "JSONDecodeError: Expecting property name", place: `["tool.py",3,12]`},
		{name: "raised at the top of a module", code: "x = 1\ny = x / 0\ndef main():\n    return y", fault: abi.ToolError, message: "ZeroDivisionError", place: `["tool.py",2,5]`},
		{name: "raised in async", code: "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    raise ValueError('late')\nasync def main():\n    await asyncio.gather(f(), asyncio.sleep(0.01))",
			fault: abi.ToolError, message: "ValueError: late", place: `["tool.py",4,5]`},
		{name: "raised in a group", code: "import asyncio\nasync def f(n):\n    raise ValueError(f'late {n}')\nasync def main():\n    async with asyncio.TaskGroup() as g:\n        g.create_task(f(1))\n        g.create_task(f(2))",
			fault: abi.ToolError, message: "unhandled errors in a TaskGroup (2 sub-exceptions): ValueError: late 1 (tool.py:3), and 1 more", place: `["tool.py",3,5]`,
			stack: "    at f (tool.py:3:5)\nin ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n    at main (tool.py:5:5)"},
		{name: "a group in a group", code: "raise ExceptionGroup('all', [ExceptionGroup('some', [KeyError('a'), ValueError('b')]), OSError('c')])", fault: abi.ToolError,
			message: "ExceptionGroup: all (2 sub-exceptions): KeyError: 'a', and 2 more", place: `["tool.py",1,1]`},
		{name: "raised from another", code: "def f(x):\n    return x['a']\ntry:\n    f({})\nexcept KeyError as e:\n    raise ValueError('no a') from e", fault: abi.ToolError, message: "ValueError: no a", place: `["tool.py",6,5]`,
			stack: "    at <module> (tool.py:6:5)\ncaused by KeyError: 'a'\n    at f (tool.py:2:12)\n    at <module> (tool.py:4:5)"},
		{name: "raised while another is handled", code: "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('b')", fault: abi.ToolError, message: "ValueError: b",
			stack: "    at <module> (tool.py:4:5)\nwhile handling ZeroDivisionError: division by zero\n    at <module> (tool.py:2:5)"},
		{name: "raised from nothing", code: "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('b') from None", fault: abi.ToolError, stack: "    at <module> (tool.py:4:5)"},
		{name: "causes that go in a circle", code: "a, b = ValueError('a'), ValueError('b')\na.__cause__, b.__cause__ = b, a\nraise a", fault: abi.ToolError, message: "ValueError: a",
			stack: "    at <module> (tool.py:3:1)\ncaused by ValueError: b"},
		{name: "a memory call that is awaited", code: "x = await memory.get_content('prefs')", fault: abi.ToolError, message: "do not await memory calls: in Python", place: `["tool.py",1,5]`},
		{name: "a memory call that is misspelt", code: "memory.get_contents('prefs')", fault: abi.ToolError, message: "AttributeError: module 'memory' has no attribute 'get_contents'; did you mean get_content?", place: `["tool.py",1,1]`},
		{name: "a memory call of JavaScript", code: "memory.setContent('prefs', {})", fault: abi.ToolError, message: "did you mean set_content?"},
		{name: "a memory call that is nothing of the kind", code: "memory.frobnicate()", fault: abi.ToolError, message: "module 'memory' has no attribute 'frobnicate'; use one of: get_content, set_content"},
		{name: "an error whose text fails", code: "class E(Exception):\n    def __str__(self):\n        raise SystemExit\nraise E", fault: abi.ToolError, message: "E (the message cannot be read)", place: `["tool.py",4,1]`},
		{name: "an error without a text", code: "raise ValueError", fault: abi.ToolError, message: "ValueError"},
		{name: "sys.exit", code: "import sys\ncontext['n'] = 1\nsys.exit()", want: `null`, warning: "line 3 calls sys.exit"},
		{name: "exit 0", code: "exit(0)", want: `null`, warning: "line 1 calls exit"},
		{name: "exit 3", code: "import sys\nsys.exit(3)", fault: abi.ToolError, message: "the tool exited with code 3", place: `["tool.py",2,1]`},
		{name: "exit with a text", code: "raise SystemExit('enough')", fault: abi.ToolError, message: "enough"},
		{name: "exit of the process", code: "import os\nos._exit(0)", want: `null`},
		{name: "exit of the process with a code", code: "import os\nos._exit(7)", fault: abi.ToolError, message: "exited with code 7"},
		{name: "abort", code: "import os\nos.abort()", fault: abi.ToolError, message: "trapped"},
		{name: "recursion is caught", code: "def f():\n    return f()\ntry:\n    f()\nexcept RecursionError:\n    return 'caught'", want: `"caught"`},
		{name: "recursion of a limit of its own", code: "import sys\nsys.setrecursionlimit(10**6)\ndef f(n):\n    return n and f(n - 1)\nreturn f(100000)", fault: abi.StackLimit, message: "the call depth exceeds 500"},
		{name: "recursion in C", code: "a = []\nfor _ in range(100000):\n    a = [a]\nreturn repr(a)", fault: abi.StackLimit},
		{name: "recursion through C", code: "text = 'exec(text)'\nexec(text)", fault: abi.StackLimit, message: "the call depth exceeds 500"},
		{name: "recursion of an attribute", code: "class A:\n    def __getattr__(self, name):\n        return getattr(self, name)\nreturn A().a", fault: abi.StackLimit},
		{name: "recursion of a call depth", code: "def f(n):\n    return n and f(n - 1)\nreturn f(900)", limits: engine.Limits{CallDepth: 1000}, want: `0`},
		{name: "memory is caught", code: "try:\n    a = bytearray(10**9)\nexcept MemoryError:\n    return 'caught'", want: `"caught"`},
		{name: "memory", code: "a = []\nwhile True:\n    a.append(bytearray(10**6))", limits: engine.Limits{MemoryBytes: 64 << 20}, fault: abi.MemoryLimit, message: "64 MiB", place: `["tool.py",3,14]`},
		{name: "memory that is not enough to begin with", code: "return 1", limits: engine.Limits{MemoryBytes: 16 << 20}, fault: abi.MemoryLimit, message: "the Python interpreter needs more memory than the tool's limit of 16 MiB\nset `limits: {memory: 24MiB}`"},
		{name: "memory that is just enough to begin with", code: "return 1", limits: engine.Limits{MemoryBytes: leastMemory}, want: `1`},
		{name: "a MemoryError of its own", code: "raise MemoryError('mine')", fault: abi.ToolError, message: "MemoryError: mine"},
		{name: "an uncaught fault that was raised from", code: "try:\n    memory.get_content('forbidden')\nexcept MemoryAccessError as e:\n    raise RuntimeError('other') from e", fault: abi.ToolError, message: "RuntimeError: other"},
		{name: "memory at the top of a module", code: "x = memory.get_content('prefs')\ndef main():\n    return x", fault: abi.InvalidArgument, message: "move the call into the entry", place: `["tool.py",1,5]`},

		{name: "syntax", code: "x = 1\nif x\n    y\n", fault: abi.SourceInvalid, message: "tool.py cannot be compiled: expected ':'", place: `["tool.py",2,5]`},
		{name: "syntax after a wide character", code: "x = 'ü'; y = = 1", fault: abi.SourceInvalid, place: `["tool.py",1,14]`},
		{name: "syntax of what the compiler sees", code: "def f():\n    break\nreturn 1", fault: abi.SourceInvalid, message: "'break' outside loop", place: `["tool.py",2,5]`},
		{name: "indentation", code: "def f():\nreturn 1", fault: abi.SourceInvalid, message: "expected an indented block", place: `["tool.py",2,1]`},
		{name: "syntax of a module", code: "def main():\n    import bad", files: fstest.MapFS{"bad.py": {Data: []byte("x = (\n")}}, fault: abi.SourceInvalid, message: "bad.py cannot be compiled: '(' was never closed", place: `["bad.py",1,5]`},
		{name: "syntax of a module that is tried", code: "try:\n    import bad\nexcept Exception as e:\n    bad = type(e).__name__\ndef main():\n    return bad", files: fstest.MapFS{"bad.py": {Data: []byte("x = (\n")}}, want: `"SyntaxError"`},
		{name: "syntax of a module that is tried, and not caught", code: "try:\n    import bad\nexcept ImportError:\n    bad = None", files: fstest.MapFS{"bad.py": {Data: []byte("x = (\n")}}, fault: abi.ToolError, message: "SyntaxError: '(' was never closed", place: `["bad.py",1,5]`},
		{name: "syntax of a module that is tried, and needed elsewhere", code: "try:\n    import bad\nexcept Exception:\n    pass\ndef main():\n    import bad", files: fstest.MapFS{"bad.py": {Data: []byte("x = (\n")}}, fault: abi.SourceInvalid, message: "bad.py cannot be compiled", place: `["bad.py",1,5]`},
		{name: "syntax of a module that is imported where an error is handled", code: "try:\n    x = 1\nexcept Exception:\n    import bad", files: fstest.MapFS{"bad.py": {Data: []byte("x = (\n")}}, fault: abi.SourceInvalid, message: "bad.py cannot be compiled", place: `["bad.py",1,5]`},
		{name: "yield in a body", code: "x = 1\nyield x\nreturn 1", fault: abi.SourceInvalid, message: "yield", place: `["tool.py",2,1]`},
		{name: "a NUL", code: "x = 1\x00", fault: abi.SourceInvalid},
		{name: "no UTF-8", code: "x = '\xff'", fault: abi.SourceInvalid, message: "UTF-8"},
		{name: "nested too deep", code: "x = " + repeat("(", 5000) + repeat(")", 5000), fault: abi.SourceInvalid},
		{name: "too many operators", code: "x = " + repeat("-", 100000) + "1", fault: abi.SourceInvalid},
		{name: "a long chain", code: "x = 1" + repeat(".real", 50000), fault: abi.SourceInvalid},
		{name: "syntax at run time", code: "exec('a = = 1')", fault: abi.ToolError, message: "SyntaxError: invalid syntax", place: `["tool.py",1,1]`},
		{name: "a warning of the compiler", code: "x = 1\nreturn x is 1", want: `true`, warning: `tool.py:2: SyntaxWarning: "is" with 'int' literal`},

		{name: "no such module", code: "import numpy", fault: abi.ToolError, message: "No module named 'numpy': tools cannot load packages with compiled code; math, statistics and array can replace parts of it", place: `["tool.py",1,1]`},
		{name: "a package for the web", code: "import requests", fault: abi.ToolError, message: "No module named 'requests': tools have no network, and packages for network access do not work", place: `["tool.py",1,1]`},
		{name: "another package", code: "import yaml", fault: abi.ToolError, message: "No module named 'yaml': a tool in a single file can import only the standard library; a tool in a folder can also import modules and pure Python packages", place: `["tool.py",1,1]`},
		{name: "a package that the folder has", code: "import numpy\nreturn numpy.x", files: fstest.MapFS{"numpy.py": {Data: []byte("x = 1\n")}}, want: `1`},
		{name: "a module next to a single file", code: "import helper", fault: abi.ToolError, message: "No module named 'helper': a tool in a single file can import only the standard library; a tool in a folder can also import modules", place: `["tool.py",1,1]`},
		{name: "a module that the folder does not have", code: "import helper", files: fstest.MapFS{}, fault: abi.ToolError, message: "No module named 'helper': a tool can import only the standard library and the modules in its folder"},
		{name: "encryption", code: "import ssl", fault: abi.ToolError, message: "No module named 'ssl': tools have no network", place: `["tool.py",1,1]`},
		{name: "a pool of processes", code: "import multiprocessing", fault: abi.ToolError, message: "No module named 'multiprocessing': tools cannot start processes"},
		{name: "another module that is not there", code: "import ctypes", fault: abi.ToolError, message: "No module named 'ctypes': this part of the standard library is not available in tools"},
		{name: "no such submodule", code: "import json.nope", fault: abi.ToolError, message: "No module named 'json.nope'"},
		{name: "input()", code: "return input('name? ')", fault: abi.ToolError, message: "input() is not available"},
		{name: "standard input", code: "import sys\nreturn sys.stdin.read()", fault: abi.ToolError, message: "sys.stdin is not available; read the tool's input from the dict input", place: `["tool.py",2,8]`},
		{name: "a line of standard input", code: "import sys\nreturn sys.stdin.readline()", fault: abi.ToolError, message: "sys.stdin is not available"},
		{name: "the lines of standard input", code: "import sys\nfor line in sys.stdin:\n    print(line)", fault: abi.ToolError, message: "sys.stdin is not available"},
		{name: "threads", code: "import threading\nthreading.Thread(target=print).start()", fault: abi.ToolError, message: "tools have no threads"},
		{name: "a pool of threads", code: "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    pool.submit(print)", fault: abi.ToolError, message: "tools have no threads"},
		{name: "a thread of asyncio", code: "import asyncio\nawait asyncio.to_thread(print)", fault: abi.ToolError, message: "tools have no threads"},
		{name: "sockets", code: "import socket\nsocket.socket()", fault: abi.ToolError, message: "tools have no network"},
		{name: "the web", code: "import urllib.request\nurllib.request.urlopen('http://example.com')", fault: abi.ToolError, message: "tools have no network"},
		{name: "the web, encrypted", code: "import urllib.request\nurllib.request.urlopen('https://example.com')", fault: abi.ToolError, message: "tools have no network", place: `["tool.py",2,1]`},
		{name: "a connection to the web", code: "import http.client\nhttp.client.HTTPSConnection('example.com').request('GET', '/')", fault: abi.ToolError, message: "tools have no network"},
		{name: "streams of asyncio", code: "import asyncio\nawait asyncio.open_connection('example.com', 80)", fault: abi.ToolError, message: "tools have no network"},
		{name: "processes", code: "import subprocess\nsubprocess.run(['ls'])", fault: abi.ToolError, message: "tools cannot start processes"},
		{name: "os.system", code: "import os\nos.system('ls')", fault: abi.ToolError, message: "AttributeError: module 'os' has no attribute 'system': tools cannot start processes", place: `["tool.py",2,1]`},
		{name: "os.fork", code: "import os\nos.fork()", fault: abi.ToolError, message: "module 'os' has no attribute 'fork': tools cannot start processes"},
		{name: "os.fork, looked for", code: "import os\nreturn [hasattr(os, name) for name in ('fork', 'system', 'nonsense', 'open')]", want: `[false,false,false,true]`},
		{name: "a variable of the system", code: "import os\nos.environ['REGION']", fault: abi.ToolError, message: "KeyError: 'REGION'\ndeclare the variable under env in the manifest, or set the variable for the run", exact: true},
		{name: "os.popen", code: "import os\nos.popen('ls')", fault: abi.ToolError, message: "tools cannot start processes"},
		{name: "os.open", code: "import os\nos.open('x.txt', os.O_WRONLY | os.O_CREAT)", fault: abi.ToolError, message: "tools have no files", place: `["tool.py",2,1]`},
		{name: "writing a file of Python", code: "import os\nwith open(os.__file__, 'ab') as f:\n    f.write(b'x')", fault: abi.ToolError, message: "OSError: [Errno 69] Read-only file system: tools have no files; keep data in a store", place: `["tool.py",2,6]`},
		{name: "writing a file of Python in all ways", code: "import errno, io, os, pathlib\nfound = []\nfor write in (lambda: open(os.__file__, 'r+'), lambda: io.open(os.__file__, mode='w'), lambda: open(os.fsencode(os.__file__), 'x'), lambda: pathlib.Path(os.__file__).write_text('x'), lambda: os.open(os.__file__, os.O_RDWR), lambda: os.open(os.__file__, os.O_APPEND | os.O_WRONLY)):\n    try:\n        write()\n        found.append('opened')\n    except OSError as e:\n        found.append(e.errno == errno.EROFS)\nreturn found", want: `[true,true,true,true,true,true]`},
		{name: "reading a file of Python", code: "import os\nfd = os.open(os.__file__, os.O_RDONLY)\nreturn [len(open(os.__file__).read()) > 10000, len(os.read(fd, 10))]", want: `[true,10]`},
		{name: "writing a file", code: "open('out.txt', 'w')", fault: abi.ToolError, message: "tools have no files", place: `["tool.py",1,1]`},
		{name: "writing a file by pathlib", code: "import pathlib\npathlib.Path('/tmp/x').write_text('a')", fault: abi.ToolError, message: "tools have no files"},
		{name: "reading a file", code: "try:\n    open('/etc/passwd')\nexcept OSError as e:\n    return type(e).__name__", want: `"FileNotFoundError"`},
		{name: "temporary files", code: "import tempfile\ntempfile.TemporaryFile()", fault: abi.ToolError, message: "tools have no files"},
		{name: "a folder", code: "import os\nos.listdir('.')", fault: abi.ToolError, message: "tools have no files"},
		{name: "a file that is looked at", code: "import os\nos.stat('a.txt')", fault: abi.ToolError, message: "tools have no files"},
		{name: "an error of a file of its own making", code: "raise FileNotFoundError('no such order')", fault: abi.ToolError, message: "FileNotFoundError: no such order\n", exact: true},
	})
}

// leastMemory is a memory limit. If a run has a lower limit, the fault recommends leastMemory.
const leastMemory = 24 << 20

func repeat(s string, n int) string {
	b := make([]byte, 0, n*len(s))
	for range n {
		b = append(b, s...)
	}
	return string(b)
}
