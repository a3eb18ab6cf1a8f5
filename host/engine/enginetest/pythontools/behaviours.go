package pythontools

import (
	"testing/fstest"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// behaviours contains the tools of the suite, written in Python. Calls in Python are synchronous,
// so Forget is missing.
var behaviours = map[enginetest.Behaviour]string{
	enginetest.Sum:     "return {'sum': input['a'] + input['b']}",
	enginetest.Echo:    "return input['value']",
	enginetest.Nothing: "total = input['a'] + input['b']",
	enginetest.Throw:   "text = 'broken'\n\nraise ValueError(text)",
	enginetest.Print:   "print('one')\nlogging.warning('two')",
	enginetest.Count: `
n = ((memory.get_content('counter') or {}).get('n') or 0) + 1
memory.set_content('counter', {'n': n})
return n`,
	enginetest.Remove: "return memory.delete_content('counter')",
	enginetest.Catch: `
try:
    memory.get_content('forbidden')
except AccessDeniedError as error:
    if not isinstance(error, MemoryAccessError):
        raise
    return {'code': error.code, 'store': error.store, 'violations': error.violations}`,
	enginetest.Uncaught: "store = 'forbidden'\n\nreturn memory.get_content(store)",
	enginetest.Fake: `
import copy
try:
    memory.get_content('forbidden')
except MemoryAccessError as error:
    fake = copy.copy(error)
    fake.__dict__.update(vars(error), code='conflict', id='1', fault=0)
    fake.__class__ = ConflictError
    raise fake`,
	enginetest.Halt: `
def go_on():
    memory.get_content('after')
    while True:
        pass

class Held:
    def __enter__(self):
        return self
    def __exit__(self, *args):
        go_on()
    __del__ = go_on

try:
    with Held():
        memory.get_content('halt')
except BaseException:
    go_on()
finally:
    go_on()`,
	enginetest.LogAndGo: `
try:
    print('stop')
    memory.get_content('after')
except BaseException:
    memory.get_content('after')
finally:
    memory.get_content('after')`,
	enginetest.Spin:    "while True:\n    pass",
	enginetest.Wait:    "return memory.get_content('slow')",
	enginetest.Never:   "import asyncio\nawait asyncio.Future()",
	enginetest.Context: "context['added'] = {'n': 1}\ncontext['changed'] = 2\nreturn context['kept']",
	enginetest.Steps:   "context['steps'] = {}",
	enginetest.NotJSON: "return {'items': [1, float('nan')]}",
	enginetest.BadArgument: `
try:
    memory.set_content('prefs', {'f': print})
except MemoryAccessError as error:
    return error.code`,
	enginetest.Deep:    "deep = []\nfor _ in range(199):\n    deep = [deep]\nreturn deep",
	enginetest.Large:   "return 'x' * 100000",
	enginetest.Recurse: "def f():\n    return f() + 1\nreturn f()",
	enginetest.Global: `
import builtins, json
json.count = getattr(json, 'count', 0) + 1
builtins.count = getattr(builtins, 'count', 0) + 1
globals()['count'] = globals().get('count', 0) + 1
return max(json.count, builtins.count, globals()['count'])`,
	enginetest.Keep: `
import builtins
builtins.kept = input['value']
memory.get_content('prefs')
return kept`,
	enginetest.Keywords: "return memory.get_content(projection={'a': 1}, store='prefs')",
	enginetest.Aliases:  "return memory.set_content(memory_store_name='prefs', content={'a': 1})",
	enginetest.Unknown: `
try:
    memory.get_content(store='prefs', nope=1)
except MemoryAccessError as error:
    return error.code`,
	enginetest.Added:  "return memory.probe_content('prefs', {'a': 1})",
	enginetest.Clock:  "return int(time.time() * 1000)",
	enginetest.Random: "return [random.random(), secrets.token_hex(), str(uuid.uuid4())]",
	enginetest.Import: "import answer\ndef main():\n    return answer.ANSWER",
	enginetest.Broken: "a = 1\n\nb = = 2",
}

// Write returns the tool that implements a Behaviour. If Python cannot express the Behaviour, Write
// returns false.
func Write(b enginetest.Behaviour) (engine.Source, bool) {
	code, ok := behaviours[b]
	files := fstest.MapFS{
		"tool.py":   {Data: []byte(code)},
		"answer.py": {Data: []byte("ANSWER = 42\n")},
	}
	return engine.Source{Path: "tool.py", Code: []byte(code), Files: files}, ok
}
