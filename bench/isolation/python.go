package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing/fstest"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// The cases of Python.
const (
	pythonInWorker = "Python, json, re, datetime and one get, in a worker"
	pythonMany     = "Python, json, re, datetime and one get, in workers, concurrently"
	pythonProcess  = "python3 -I -c, json, re and datetime, in a process"
)

// countWords is the code of a Python tool. The tool parses a request, calls the host's memory once,
// and uses common Python modules.
const countWords = `import json, re
from datetime import datetime as clock, timedelta

def main(text, at):
    seen = memory.get_content("seen") or {"n": 0}
    words = re.findall(r"\w+", text)
    after = clock.fromisoformat(at) + timedelta(days=1)
    return json.loads(json.dumps({"words": len(words), "after": after.isoformat(), "n": seen["n"]}))
`

// bareWords is a program for python3. bareWords does the same work as countWords, but bareWords
// reads the content of the memory from standard input.
const bareWords = `import json, re, sys
from datetime import datetime as clock, timedelta
request = json.load(sys.stdin)
seen = request.get("seen") or {"n": 0}
words = re.findall(r"\w+", request["text"])
after = clock.fromisoformat(request["at"]) + timedelta(days=1)
print(json.dumps({"words": len(words), "after": after.isoformat(), "n": seen["n"]}, separators=(",", ":")))
`

const (
	pythonRequest = `{"text":"How many words are there in this sentence, which is short?","at":"2026-01-31T12:00:00"}`
	pythonAnswer  = `{"words":11,"after":"2026-02-01T12:00:00","n":0}`
)

var wordsApp = fstest.MapFS{
	"app.yaml": {Data: []byte("app: words\nmemory:\n  seen: {access: user}\ntools:\n  words: {source: words.py, grants: {seen: read}}\n")},
	"words.py": {Data: []byte(countWords)},
}

// pythons runs Python in workers. The field "missing" is the reason why Python cannot be run, or
// "".
type pythons struct {
	closers
	host    *host.Host
	options sandbox.Options
	file    string
	missing string
}

func openPythons() (p *pythons, err error) {
	p = &pythons{}
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "toolrun")
		p.file, _ = distribution.Find(dir)
	}
	if p.file == "" {
		p.missing = "the Python runtime is not installed; run toolrun python install"
		return p, nil
	}
	p.options = sandbox.Options{CacheDir: filepath.Join(dir, "cells")}
	pool, err := engines.NewPool(p.options, engines.WithPython(p.file))
	if err != nil {
		return nil, err
	}
	p.add(pool.Close)
	if p.host, err = openHost(wordsApp, pool.Engines(), nil); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.add(p.host.Close)
	return p, nil
}

func (p *pythons) cases() []*measure.Case {
	if p.missing != "" {
		return nil
	}
	run := func(worker, _ int) error { return runWords(p.host, user(worker)) }
	list := []*measure.Case{
		{Name: pythonInWorker, Workers: 1, Call: run},
		{Name: pythonMany, Workers: runtime.GOMAXPROCS(0), Call: run},
	}
	if _, err := exec.LookPath("python3"); err == nil {
		list = append(list, &measure.Case{Name: pythonProcess, Workers: 1, Call: func(int, int) error { return runPython() }})
	}
	return list
}

func runWords(h *host.Host, caller host.Caller) error {
	return runTool(h, host.Invocation{Tool: "words", Input: json.RawMessage(pythonRequest), Caller: caller}, pythonAnswer)
}

// runPython does the work of countWords in a python3 process.
func runPython() error {
	command := exec.CommandContext(context.Background(), "python3", "-I", "-c", bareWords)
	command.Stdin = bytes.NewReader([]byte(pythonRequest))
	out, err := command.Output()
	if err == nil && string(bytes.TrimSpace(out)) != pythonAnswer {
		err = fmt.Errorf("python3 returned %s; want %s", out, pythonAnswer)
	}
	return err
}

func (p *pythons) figures(rows measure.Rows) (list []measure.Figure) {
	if rows.Has(pythonProcess, pythonInWorker) {
		list = append(list, rows.Over("ratio of a python3 process to a Python run in a worker, p50", pythonProcess, "at least 10", pythonInWorker))
	}
	if rows.Has(pythonMany) {
		perCore := rows[pythonMany].Rate / float64(runtime.GOMAXPROCS(0))
		list = append(list, measure.Figure{Name: "Python runs per second and processor", Value: perCore, Unit: "a second", Aim: "at least 1500"})
	}
	return list
}

// memory measures the memory of idle workers after a Python run.
func (p *pythons) memory() ([]measure.Row, []measure.Figure, error) {
	if p.missing != "" {
		return []measure.Row{{Name: pythonInWorker, Missing: p.missing}}, nil, nil
	}
	options := p.options
	options.Workers, options.Spares = idleWorkers, -1
	return idleMemory("Python", options, func(h *host.Host, tenant int) error {
		return runWords(h, host.Caller{Tenant: "tenant" + strconv.Itoa(tenant), User: "ann"})
	}, wordsApp, engines.WithPython(p.file))
}
