package python_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python"
)

// nativeZones runs a tool's program with the installed CPython. The program uses the time zone
// files in the given folder.
const nativeZones = `
import io, json, os, sys, zoneinfo
folder, file = sys.argv[1:]
zoneinfo.reset_tzpath([folder])
zoneinfo._common.load_tzdata, elsewhere = lambda key: open(os.path.join(folder, key), "rb"), zoneinfo._common.load_tzdata
names = {}
exec(compile(open(file).read(), file, "exec"), names)
def missing(key, missing=names["missing"]):
    zoneinfo._common.load_tzdata = elsewhere
    return missing(key)
names["missing"] = missing
print(json.dumps(names["main"](), ensure_ascii=False, separators=(",", ":")))
`

// goZones returns the zip archive with the time zones of the Go version that runs the test.
func goZones(t *testing.T) []byte {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// Python tools must have the time zones in Go's package time/tzdata, because JavaScript tools use
// that package.
func TestZonesAreThoseOfGo(t *testing.T) {
	if !bytes.Equal(python.UnpackedZones(t), goZones(t)) {
		t.Error("zoneinfo.zip.gz is not the database of this Go; run go generate ./host/engine/python")
	}
}

// For many time zones and instants, the module zoneinfo must return the same results in the engine
// and in this machine's CPython. Both use the same time zone files.
func TestZones(t *testing.T) {
	python, _ := python3(t)
	cmd := exec.CommandContext(t.Context(), python, "-I", "-S", "-X", "utf8", "-c", nativeZones, unzipped(t), "testdata/zones.py")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	code, err := os.ReadFile("testdata/zones.py")
	if err != nil {
		t.Fatal(err)
	}
	var got, want [4]json.RawMessage
	if err := json.Unmarshal(answerOf(t, sharedEngine(t), code), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for n, part := range []string{"instants", "count", "files", "unknown names"} {
		if !bytes.Equal(got[n], want[n]) {
			t.Errorf("%s: the engine returns\n%s\nwant the result of python3\n%s", part, got[n], want[n])
		}
	}
}

// unzipped returns the path of a folder that contains the files of Go's time zones.
func unzipped(t *testing.T) string {
	t.Helper()
	all := goZones(t)
	archive, err := zip.NewReader(bytes.NewReader(all), int64(len(all)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range archive.File {
		from, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A tool must be able to read a time zone at its top level and in each run. It must also be able to
// read one if the engine uses no snapshots.
func TestZonesEverywhere(t *testing.T) {
	const noon = "datetime(2018, 11, 4, 12, tzinfo=ZoneInfo('America/Sao_Paulo')).isoformat()"
	tools := []tool{
		{name: "at the top level", code: "from zoneinfo import ZoneInfo\nTOP = " + noon + "\ndef main():\n    return [TOP, " + noon + "]", want: `["2018-11-04T12:00:00-02:00","2018-11-04T12:00:00-02:00"]`},
		{name: "in a body", code: "from zoneinfo import ZoneInfo\nreturn " + noon, want: `"2018-11-04T12:00:00-02:00"`},
		{name: "the names", code: "import zoneinfo\nnames = zoneinfo.available_timezones()\nreturn [type(names).__name__, 'Asia/Kathmandu' in names, 'UTC' in names, 'posixrules' in names]", want: `["set",true,true,false]`},
		{name: "no such zone", code: "from zoneinfo import ZoneInfo\nreturn ZoneInfo('Europe/Belin')", fault: abi.ToolError, message: "ZoneInfoNotFoundError: 'No time zone found with key Europe/Belin'", place: `["tool.py",2,8]`},
		{name: "half a character", code: "from zoneinfo import ZoneInfo, ZoneInfoNotFoundError\ntry:\n    ZoneInfo('\\ud800')\nexcept (ZoneInfoNotFoundError, UnicodeEncodeError):\n    return 1", want: `1`},
		{name: "the functions of a library that is broken", code: "import json, zoneinfo\njson.dumps = json.loads = None\nreturn str(zoneinfo.ZoneInfo('Asia/Tokyo'))", want: `"Asia/Tokyo"`},
		{name: "no cache", code: "from zoneinfo import ZoneInfo\na, b = ZoneInfo.no_cache('CET'), ZoneInfo('CET')\nZoneInfo.clear_cache()\nreturn [a is b, ZoneInfo('CET') is b, str(a)]", want: `[false,false,"CET"]`},
	}
	runAll(t, tools)
	e := newEngine(t, python.WithFullStarts())
	t.Run("started anew", func(t *testing.T) { tools[0].run(t, e) })
}

// A run must not find time zones that an earlier run has read.
func TestZonesOfEachRun(t *testing.T) {
	const code = "import zoneinfo\ndef main(key):\n    first = len(zoneinfo.ZoneInfo._weak_cache) if hasattr(zoneinfo.ZoneInfo, '_weak_cache') else 0\n    zone = zoneinfo.ZoneInfo(key)\n    zoneinfo._common.load_tzdata = None\n    return [first, str(zone)]\n"
	p := loadTool(t, sharedEngine(t), code)
	for _, key := range []string{"Asia/Tokyo", "Europe/Rome", "Asia/Tokyo", "America/Lima"} {
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		out, err := p.Run(ctx, engine.Input{Input: json.RawMessage(`{"key":"` + key + `"}`), Now: time.Unix(0, 0)}, engine.Host{})
		cancel()
		if err != nil || string(out.Output) != `[0,"`+key+`"]` {
			t.Errorf("Run = %s, %v; want %s", out.Output, err, key)
		}
	}
}
