package tenants_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// A service opens the app of a request's tenant. The service releases the app after the response.
func Example() {
	ctx := context.Background()
	shop, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\ntools: {hello: {source: hello.js, description: greets}}")},
		"hello.js": {Data: []byte("return 'hello'")},
	}, "app.yaml")
	if err := problems.Err(); err != nil {
		fmt.Println(err)
		return
	}
	served := tenants.New(tenants.Options{Host: host.Options{Backend: mem.New(), Engines: []engine.Engine{js.New()}}}) // a real service uses worker processes
	defer served.Close()
	if err := served.Serve(ctx, []*app.App{shop}); err != nil {
		fmt.Println(err)
		return
	}
	h, release, err := served.Host(ctx, "acme", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer release()
	result, err := h.Run(ctx, host.Invocation{Tool: "hello", Caller: host.Caller{Tenant: "acme"}})
	fmt.Println(string(result.Output), err)
	// Output: "hello" <nil>
}
