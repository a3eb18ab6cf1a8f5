package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// A host needs an app, a database and an engine.
func Example() {
	leave, err := enterShop()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer leave()
	for range 2 {
		if err := visit(context.Background(), json.RawMessage(`{"page": "/tea"}`)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"visits":1}
	// {"visits":2}
}

// visit opens a host, runs a tool for a user, and prints the output.
func visit(ctx context.Context, input json.RawMessage) error {
	db, err := bolt.Open("memory.db", nil)
	if err != nil {
		return err
	}
	defer db.Close()
	root, err := os.OpenRoot(".") // os.OpenRoot prevents access through links out of the folder
	if err != nil {
		return err
	}
	defer root.Close()
	shop, problems := app.Load(root.FS(), "app.yaml")
	if err := problems.Err(); err != nil {
		return err
	}
	pool, err := engines.NewPool(sandbox.Options{}) // tools run in worker processes, each run in a fresh sandbox
	if err != nil {
		return err
	}
	defer pool.Close()
	h, err := host.Open(ctx, host.Options{App: shop, Backend: db, Engines: pool.Engines()})
	if err != nil {
		return err
	}
	defer h.Close()
	result, err := h.Run(ctx, host.Invocation{Tool: "visit", Input: input, Caller: host.Caller{User: "ann"}})
	if err != nil {
		return err
	}
	fmt.Println(string(result.Output))
	return nil
}

// A service opens a host for each app. At the end, the service first closes the hosts, then the
// workers, and then the database.
func ExampleOpen() {
	dir, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	shop, _ := app.Load(os.DirFS(dir), "app.yaml")
	twin := *shop
	twin.ID = "twin"
	db := mem.New()
	defer db.Close()
	hosts, leave, err := serve(context.Background(), []*app.App{shop, &twin}, db, filepath.Join(dir, "cache"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer leave()
	for _, h := range hosts {
		result, err := h.Run(context.Background(), host.Invocation{Tool: "visit", Caller: host.Caller{User: "ann"}})
		fmt.Println(h.App().ID, string(result.Output), err)
	}
	// Output:
	// shop {"visits":1} <nil>
	// twin {"visits":1} <nil>
}

// serve is also the code in docs/explanation/scheduling.md.
func serve(ctx context.Context, apps []*app.App, db storage.Backend, cache string) (hosts []*host.Host, leave func(), err error) {
	const atOnce = 8 // the number of concurrent runs of all apps
	gate, err := admission.New(admission.Limits{Running: atOnce, PerApp: 6, PerUser: 2})
	if err != nil {
		return nil, nil, err
	}
	pool, err := engines.NewPool(sandbox.Options{Workers: atOnce, CacheDir: cache})
	if err != nil {
		return nil, nil, err
	}
	leave = func() {
		for _, h := range hosts {
			_ = h.Close()
		}
		_ = pool.Close()
	}
	for _, declared := range apps {
		h, err := host.Open(ctx, host.Options{
			App: declared, Backend: db, Engines: pool.Engines(), Gate: gate,
			Limits: host.Limits{MaxTimeout: 30 * time.Second}, Memory: memory.Limits{AppBytes: 100 << 20},
		})
		if err != nil {
			leave()
			return nil, nil, err
		}
		hosts = append(hosts, h)
	}
	return hosts, leave, nil
}

// The fault of a run is in its Result, and is also the error of Run. The codes of faults are
// stable.
func ExampleHost_Run_fault() {
	dir, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	shop, _ := app.Load(os.DirFS(dir), "app.yaml")
	h, err := host.Open(context.Background(), host.Options{App: shop, Backend: mem.New(), Engines: testEngines()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	result, _ := h.Run(context.Background(), host.Invocation{Tool: "visit", Input: json.RawMessage(`{}`)})
	fmt.Println(result.OK, result.Error.Code == abi.NoUser, result.Error.File, result.Error.Line)
	// Output: false true visit.js 1
}

// enterShop creates a folder with the app of the examples and changes the working directory to that
// folder until leave is called.
func enterShop() (leave func(), err error) {
	dir, err := shop()
	if err != nil {
		return nil, err
	}
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	return func() {
		_ = os.Chdir(before)
		_ = os.RemoveAll(dir)
	}, nil
}

// shop writes the app of the examples to a new folder.
func shop() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "shop"); err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"app.yaml": "app: shop\nmemory:\n  visits: {access: user, retention: 1_month}\n" +
			"tools:\n  visit: {source: visit.js, description: Count a visit, grants: {visits: readwrite}}\n",
		"visit.js": `const last = await memory.get_content("visits");
await memory.set_content("visits", { count: (last?.count ?? 0) + 1 });
return { visits: (last?.count ?? 0) + 1 };`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}
