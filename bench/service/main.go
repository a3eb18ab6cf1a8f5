// Command service measures runs that are requested through the HTTP API. The client uses the
// loopback interface, and the database is on disk. Each tool reads and writes one record; one tool
// is in JavaScript and one is in Python. For comparison, the command measures a Go handler behind
// the same API. The Go handler does the same work as the tools, but runs without a sandbox.
package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

func main() {
	engines.Main() // this program also runs as a worker
	measure.Main(prepare)
}

// files contains the app file and the source files of the tools. Each tool increments a count in
// the user's record.
var files = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: bench
memory: {counts: {access: user}}
tools:
  js: {source: count.js, description: counts, grants: {counts: readwrite}}
  py: {source: count.py, description: counts, grants: {counts: readwrite}}
  go: {source: count.js, description: counts, grants: {counts: readwrite}}
`)},
	"count.js": {Data: []byte(`const c = await memory.get_content("counts"); await memory.set_content("counts", {n: (c?.n ?? 0) + 1}); return (c?.n ?? 0) + 1;`)},
	"count.py": {Data: []byte("c = memory.get_content('counts') or {'n': 0}\nmemory.set_content('counts', {'n': c['n'] + 1})\nreturn c['n'] + 1\n")},
	"count.go": {Data: []byte("empty: native implements it")},
}

func prepare(dir string) (b *measure.Bench, err error) {
	all := &closers{}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.close())
		}
	}()
	engines, missing, err := openEngines(all)
	if err != nil {
		return nil, err
	}
	disk, err := bolt.Open(filepath.Join(dir, "memory.db"), nil)
	if err != nil {
		return nil, err
	}
	all.add(disk.Close)
	var cases []*measure.Case
	for _, place := range []struct {
		name    string
		backend storage.Backend
	}{{"on disk", disk}, {"in memory", mem.New()}} {
		url, err := serve(all, place.backend, engines)
		if err != nil {
			return nil, err
		}
		cases = append(cases, casesAt(url, place.name, missing)...)
	}
	return &measure.Bench{Cases: cases, Figures: figures, Close: all.close}, nil
}

// serve serves the app and returns its address.
func serve(all *closers, backend storage.Backend, engines []engine.Engine) (string, error) {
	declared, problems := app.Load(files, "app.yaml")
	if err := problems.Err(); err != nil {
		return "", err
	}
	for i, tool := range declared.Tools {
		if tool.Name == "go" {
			declared.Tools[i].Source = "count.go" // an app file cannot name a Go source
		}
	}
	served := tenants.New(tenants.Options{Host: host.Options{Backend: backend, Engines: engines, Ledger: time.Hour}})
	all.add(served.Close)
	if err := served.Serve(context.Background(), []*app.App{declared}); err != nil {
		return "", err
	}
	api, err := httpapi.New(httpapi.Options{Apps: served, Authenticate: func(*http.Request) (auth.Principal, error) {
		return auth.Principal{Role: auth.Runtime, Tenant: host.DefaultTenant, Name: "bench"}, nil
	}})
	if err != nil {
		return "", err
	}
	server := httptest.NewServer(api)
	all.add(func() error { server.Close(); return nil })
	return server.URL, nil
}

// closers closes resources in reverse order.
type closers struct{ list []func() error }

func (c *closers) add(f func() error) { c.list = append(c.list, f) }

func (c *closers) close() error {
	var errs []error
	for i := len(c.list) - 1; i >= 0; i-- {
		errs = append(errs, c.list[i]())
	}
	c.list = nil
	return errors.Join(errs...)
}
