package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// openEngines creates the engines, including the engines that run in workers. If Python is not
// available, the result "missing" contains the reason. If Python is available, the result "missing"
// is "".
func openEngines(all *closers) (list []engine.Engine, missing string, err error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, "", err
	}
	dir = filepath.Join(dir, "toolrun")
	file, ok := distribution.Find(dir)
	if !ok {
		missing = "the Python runtime is not installed; run toolrun python install"
	}
	pool, err := engines.NewPool(sandbox.Options{CacheDir: filepath.Join(dir, "cells")}, engines.WithPython(file))
	if err != nil {
		return nil, "", err
	}
	all.add(pool.Close)
	return append(pool.Engines(), native{}), missing, nil
}

// native is the Go handler, which runs without a sandbox. native does the same work as the tools.
type native struct{}

func (native) Info() engine.Info                                           { return engine.Info{Name: "Go", Extensions: []string{".go"}} }
func (native) Load(context.Context, engine.Source) (engine.Program, error) { return native{}, nil }
func (native) Close() error                                                { return nil }
func (native) call(ctx context.Context, h engine.Host, op string, args ...any) (json.RawMessage, error) {
	call := abi.Call{Op: op}
	for _, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			return nil, err
		}
		call.Args = append(call.Args, text)
	}
	return h.Call(ctx, call)
}

// Run increments the count.
func (n native) Run(ctx context.Context, _ engine.Input, h engine.Host) (engine.Output, error) {
	text, err := n.call(ctx, h, abi.GetContent, "counts")
	if err != nil {
		return engine.Output{}, err
	}
	var c struct{ N int }
	if err := json.Unmarshal(text, &c); err != nil {
		return engine.Output{}, err
	}
	c.N++
	if _, err := n.call(ctx, h, abi.SetContent, "counts", map[string]int{"n": c.N}); err != nil {
		return engine.Output{}, err
	}
	return engine.Output{Output: json.RawMessage(fmt.Sprint(c.N))}, nil
}

// client reuses its connections, because the time to connect must not be measured.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// many is the number of concurrent clients, in cases with more than one client.
const many = 32

func name(tool, place string, workers int) string {
	languages := map[string]string{"go": "Go without a sandbox", "js": "JavaScript", "py": "Python"}
	return fmt.Sprintf("%s, %s, %d at once", languages[tool], place, workers)
}

func casesAt(url, place, missing string) (list []*measure.Case) {
	for _, workers := range []int{1, many} {
		for _, tool := range []string{"go", "js", "py"} {
			if tool == "py" && missing != "" {
				continue
			}
			list = append(list, &measure.Case{Name: name(tool, place, workers), Workers: workers, Call: func(worker, _ int) error {
				return run(url, tool, fmt.Sprintf("%s %d", tool, worker))
			}})
		}
	}
	return list
}

// run sends one request.
func run(url, tool, user string) error {
	body := fmt.Sprintf(`{"tool":%q,"user_id":%q}`, tool, user)
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/api/v1/runs", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"ok":true`)) {
		return fmt.Errorf("the response is %s: %s", response.Status, text)
	}
	return nil
}

func figures(rows measure.Rows) (list []measure.Figure) {
	for _, place := range []string{"on disk", "in memory"} {
		for _, tool := range []string{"js", "py"} {
			for _, workers := range []int{1, many} {
				a, b := name(tool, place, workers), name("go", place, workers)
				if rows.Has(a, b) {
					list = append(list, rows.Over(a+", ratio to a run without a sandbox, p50", a, "", b))
				}
			}
		}
	}
	return list
}
