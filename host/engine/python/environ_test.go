package python_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python"
)

const region = `{"env":{"REGION":"eu","EMPTY":"","ÖRT":"Köln"}}`

// environs contains tools. Each tool reads environment variables from os.environ.
var environs = []tool{
	{name: "all ways to read", code: "import os\nfrom os import environ, getenv\nreturn [os.environ['REGION'], environ.get('REGION'), getenv('REGION'), os.getenvb(b'REGION').decode(), os.environb[b'REGION'].decode(), os.path.expandvars('$REGION!'), 'REGION' in environ, 'X' in environ, getenv('X', 'none'), environ.get('X'), len(environ)]",
		env: region, want: `["eu","eu","eu","eu","eu","eu!",true,false,"none",null,3]`},
	{name: "all of them", code: "import os\nreturn [dict(os.environ), sorted(os.environ), sorted(os.environ.items())[0], os.environ | {'A': '1'} == {**env, 'A': '1'}, os.environ == env, repr(os.environ).startswith(\"environ({'REGION'\")]",
		env: region, want: `[{"REGION":"eu","EMPTY":"","ÖRT":"Köln"},["EMPTY","REGION","ÖRT"],["EMPTY",""],true,true,true]`},
	{name: "without variables", code: "import os\nreturn [dict(os.environ), os.getenv('PATH'), len(os.environ)]", want: `[{},null,0]`},
	{name: "in main", code: "import os\ndef main():\n    return os.environ['REGION']", env: region, want: `"eu"`},
	{name: "at the top level", code: "import os\nREGION = os.environ['REGION']\ndef main():\n    return REGION", env: region, want: `"eu"`},
	{name: "at the top level of a module", code: "import settings\ndef main():\n    return settings.REGION", files: fstest.MapFS{"settings.py": {Data: []byte("from os import environ\nREGION = environ.get('REGION', 'nowhere')\n")}}, env: region, want: `"eu"`},
	{name: "all of them at the top level", code: "import os\nALL = dict(os.environ)\ndef main():\n    return ALL == env", env: region, want: `true`},
	{name: "changed at the top level", code: "import os\nos.environ['REGION'] = 'us'\nos.environ.setdefault('EMPTY', 'x')\nos.environ.setdefault('MORE', 'y')\ndel os.environ['ÖRT']\ndef main():\n    return [sorted(os.environ.items()), env.REGION]", env: region, want: `[[["EMPTY",""],["MORE","y"],["REGION","us"]],"eu"]`},
	{name: "changed in the run", code: "import os\nos.environ['REGION'] += '!'\nos.environ.pop('EMPTY')\nos.unsetenv('ÖRT')\nreturn [sorted(os.environ.items()), env.REGION, 'EMPTY' in env]", env: region, want: `[[["REGION","eu!"],["ÖRT","Köln"]],"eu",true]`},
	{name: "a variable that is not there", code: "import os\nos.environ['REGOIN']", env: region, fault: abi.ToolError, message: "KeyError: 'REGOIN'\ndeclare the variable under env in the manifest, or set the variable for the run", exact: true},
	{name: "a variable that is not there at the top level", code: "import os\nX = os.environ['REGOIN']\ndef main():\n    return X", env: region, fault: abi.ToolError, message: "declare the variable under env", place: `["tool.py",2,5]`},
	{name: "a variable that Python itself would obey", code: "import asyncio, sys\nasync def main():\n    return [asyncio.get_running_loop().get_debug(), sys.flags.optimize, hash('a') == hash('a')]", env: `{"env":{"PYTHONASYNCIODEBUG":"1","PYTHONOPTIMIZE":"2"}}`, want: `[false,0,true]`},
}

func TestEnviron(t *testing.T) { runAll(t, environs) }

// TestEnvironStartedAnew checks the environment variables of runs that start without snapshots.
func TestEnvironStartedAnew(t *testing.T) {
	e := newEngine(t, python.WithFullStarts())
	for _, tt := range environs {
		switch tt.name {
		case "all ways to read", "at the top level", "changed at the top level":
			t.Run(tt.name, func(t *testing.T) { tt.run(t, e) })
		}
	}
}

// TestEnvironOfEachRun checks that a run has its own environment variables, and no environment
// variables of other runs.
func TestEnvironOfEachRun(t *testing.T) {
	e := sharedEngine(t)
	for name, code := range map[string]string{
		"in main":          "import os\ndef main():\n    found = dict(os.environ)\n    os.environ['MINE'] = os.environ['REGION'] = 'planted'\n    os.putenv('PLANTED', 'x')\n    return found\n",
		"at the top level": "import os\nfound = dict(os.environ)\nos.environ['MINE'] = 'planted'\ndef main():\n    return found\n",
		"in a body":        "import os\nfound = dict(os.environ)\nos.environ.update(MINE='planted', REGION='planted')\nreturn found\n",
	} {
		p := loadTool(t, e, code)
		for _, env := range []string{`{"REGION":"eu"}`, `{"REGION":"us","TOKEN":"secret"}`, `{}`, `{"REGION":"eu"}`} {
			out, err := p.Run(t.Context(), engine.Input{Context: json.RawMessage(`{"env":` + env + `}`)}, engine.Host{})
			if err != nil || string(out.Output) != env {
				t.Errorf("%s: Run = %s, %v; want %s", name, out.Output, err, env)
			}
		}
	}
}

// TestEnvironAndTopOnce checks that the top level of a tool runs only once for all runs, unless the
// top level uses the environment variables.
func TestEnvironAndTopOnce(t *testing.T) {
	e := sharedEngine(t)
	for _, tt := range []struct {
		name, top string
		once      bool
	}{
		{"imported", "from os import environ, getenv\n", true},
		{"imported with all that tools use", "import argparse, asyncio, email.message, locale, logging.config, os.path, random, sqlite3, tempfile, unittest, urllib.request, xml.dom.minidom, zoneinfo\nlogging.getLogger('x')\nclass A(unittest.TestCase):\n    pass\n", true},
		{"read", "import os\nX = os.environ.get('X')\n", false},
		{"asked for", "import os\nX = 'X' in os.environ\n", false},
		{"read in bytes", "import os\nX = os.getenvb(b'X')\n", false},
		{"counted", "import os\nX = len(os.environ)\n", false},
		{"printed", "import os\nX = str(os.environ)\n", false},
		{"set", "import os\nos.environ['X'] = 'x'\n", false},
		{"read by a library, which formats for a terminal", "import argparse\nargparse.ArgumentParser().add_argument('-n')\n", false},
		{"read by a library", "import os.path\nX = os.path.expandvars('$X')\n", false},
	} {
		p := loadTool(t, e, tt.top+"def main():\n    return 1\n")
		for range 2 {
			out, err := p.Run(t.Context(), engine.Input{}, engine.Host{})
			if err != nil || string(out.Output) != "1" || len(out.Warnings) > 0 {
				t.Errorf("%s: Run = %s, %v, with %q", tt.name, out.Output, err, out.Warnings)
			}
		}
		if once := python.RanOnce(p); once != tt.once {
			t.Errorf("%s: the top ran once = %t; want %t", tt.name, once, tt.once)
		}
	}
}
