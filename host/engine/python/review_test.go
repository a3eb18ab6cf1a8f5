package python_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/engine"
)

func TestReview(t *testing.T) {
	e := sharedEngine(t)
	folder := fstest.MapFS{
		"helper.py": {Data: []byte("import memory\nimport requests\nfound = memory.get_content('cart')\n\ndef read():\n    return memory.get_content('prefs')\n")},
	}
	tests := []struct {
		name, code string
		files      fs.FS
		want       []string // prefixes
	}{
		{"calls", "c = memory.get_content('prefs')\nmemory.set_content(store='prefs', value=c)\nmemory.delete_content(memory_store_name='conv')", nil,
			[]string{"tool.py:1:5: get_content prefs", "tool.py:2:1: set_content prefs", "tool.py:3:1: delete_content conv"}},
		{"calls of facts", "memory.get_fact('user.a')\nmemory.set_fact(path='user.b', value=1)\nmemory.list_facts('user')\nmemory.get_fact(input['x'])", nil,
			[]string{"tool.py:1:1: get_fact user.a", "tool.py:2:1: set_fact user.b"}},
		{"calls of collections", "memory.recall('kb', input['q'], {})\nmemory.recall('kb', 'tea')\nmemory.recall('kb', input['q'])\nmemory.recall('kb', *input['a'], {})", nil,
			[]string{"tool.py:1:1: recall kb", "tool.py:2:1: recall kb"}},
		{"calls behind other letters", "def main():\n    x = 'ü'; return [x, memory.get_content('prefs')]", nil, []string{"tool.py:2:25: get_content prefs"}},
		{"calls of a constant", "STORE = 'prefs'\ndef main():\n    return memory.get_content(STORE)", nil, []string{"tool.py:3:12: get_content prefs"}},
		{"calls of what changes", "store = 'prefs'\nif input.get('x'):\n    store = 'conv'\nreturn memory.get_content(store)", nil, nil},
		{"memory of its own", "def main(memory):\n    return memory.getContent('x')", nil, nil},
		{"an operation that there is not", "return memory.getContent('prefs')", nil, []string{"tool.py:1:8: memory has no operation getContent (did you mean get_content?)"}},
		{"no value", "memory.set_content('prefs')", nil, []string{"tool.py:1:1: set_content prefs", "tool.py:1:1: set_content lacks the argument value"}},
		{"a value by its name", "memory.set_content('prefs', value=1)\nmemory.set_content(*input['a'])\nmemory.set_content('prefs', **input)", nil, []string{
			"tool.py:1:1: set_content prefs", "tool.py:3:1: set_content prefs"}},
		{"an error of memory", "try:\n    memory.get_content('a')\nexcept memory.MemoryAccessError as e:\n    raise memory.MemoryAccessError(str(e))", nil, []string{"tool.py:2:5: get_content a"}},

		{"machine code", "import json\nimport numpy as np\ndef main():\n    return np.array([1])", nil, []string{"tool.py:2:1: No module named 'numpy' ("}},
		{"a package", "from requests.auth import x\nreturn x", nil, []string{"tool.py:1:1: No module named 'requests' (tools have no network"}},
		{"another file", "import helper\nreturn helper.x", nil, []string{"tool.py:1:1: No module named 'helper' (a tool in a single file"}},
		{"a part of the standard library that is not there", "import multiprocessing.pool\nreturn 1", nil, []string{"tool.py:1:1: No module named 'multiprocessing' (tools cannot start processes"}},
		{"the standard library", "import json, re, os.path, collections.abc, memory, asyncio\nfrom datetime import date\nreturn 1", nil, nil},
		{"only for types", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toolrun.tool import *\ndef main():\n    return 1", nil, nil},
		{"tried", "try:\n    import numpy\nexcept ImportError:\n    numpy = None\nreturn 1", nil, nil},

		{"memory at the top level", "prefs = memory.get_content('prefs')\ndef main():\n    return prefs", nil,
			[]string{"tool.py:1:9: get_content prefs", "tool.py:1:9: memory.get_content at the top level of a module is called when the tool is loaded"}},
		{"a top level of the run", "prefs = memory.get_content(input['store'])\ndef main():\n    return prefs", nil, nil},
		{"a body", "prefs = memory.get_content('prefs')\nreturn prefs", nil, []string{"tool.py:1:9: get_content prefs"}},
		{"a main guard", "def main():\n    return 1\nif __name__ == '__main__':\n    memory.get_content('prefs')", nil, []string{"tool.py:4:5: get_content prefs"}},
		{"a folder", "import helper\ndef main():\n    return helper.read()", folder, []string{
			"helper.py:3:9: get_content cart", "helper.py:6:12: get_content prefs",
			"helper.py:2:1: No module named 'requests'", "helper.py:3:9: memory.get_content at the top level"}},

		{"nothing", "# to be written\n", nil, []string{"tool.py:1:1: the source is empty"}},
		{"a function that nothing calls", "def mian():\n    return 1", nil, []string{"tool.py:1:1: nothing calls the function mian (did you mean main?)"}},
		{"a handler of a cloud function", "def lambda_handler(event, context):\n    return {'statusCode': 200}", nil,
			[]string{"tool.py:1:1: nothing calls the function lambda_handler (add def main(input, context): return lambda_handler(input, context))"}},
		{"a handler that main calls", "def handler(event, context):\n    return 1\ndef main(input, context):\n    return handler(input, context)", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(tt.code), Files: tt.files, Review: true})
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			if got := reviewLines(engine.ReviewOf(program)); !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("review of\n%s\n is %q; want %q", tt.code, got, tt.want)
			}
		})
	}
}

// reviewLines formats a review as text. The text contains one line for each call and one line for
// each finding.
func reviewLines(review engine.Review) []string {
	lines := []string{}
	for _, c := range review.Calls {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s %s", c.File, c.Line, c.Column, c.Op, c.Store+c.Item))
	}
	for _, f := range review.Findings {
		line := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
		if f.Hint != "" {
			line += " (" + f.Hint + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
