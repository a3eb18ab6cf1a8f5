package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/sdk/client"
)

func Example() {
	server := serve() // this server is used in place of toolrun serve
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Key: "the-key"})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, name := range []string{`{"name": "Ann"}`, `{}`} {
		result, err := c.StreamRun(ctx, apitypes.RunRequest{
			Tool:      "greet",
			RunFields: apitypes.RunFields{Input: []byte(name), User: "ann"},
		}, func(_ int, line abi.LogLine) { fmt.Println("log:", line.Text) })
		if errors.Is(err, abi.InputInvalid) {
			fmt.Println("the tool rejects", name)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(result.Output))
	}
	// Output:
	// log: greeting Ann
	// "hello Ann, for the first time"
	// the tool rejects {}
}

// serve serves an app with one tool, without authentication.
func serve() *httptest.Server {
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte(`
app: demo
memory:
  visits: {access: user}
tools:
  greet:
    source: greet.js
    description: Greet a person
    inputSchema: {type: object, properties: {name: {type: string}}, required: [name]}
    grants: {visits: readwrite}
`)},
		"greet.js": {Data: []byte(`
			console.log("greeting", input.name);
			const known = await memory.get_content("visits");
			await memory.set_content("visits", {known: true});
			return "hello " + input.name + (known ? ", again" : ", for the first time");
		`)},
	}, "app.yaml")
	if err := problems.Err(); err != nil {
		log.Fatal(err)
	}
	served := tenants.New(tenants.Options{Host: host.Options{Backend: mem.New(), Engines: []engine.Engine{js.New()}}})
	if err := served.Serve(context.Background(), []*app.App{declared}); err != nil {
		log.Fatal(err)
	}
	api, err := httpapi.New(httpapi.Options{Apps: served, Authenticate: func(*http.Request) (auth.Principal, error) {
		return auth.Principal{Role: auth.Runtime, Tenant: "default", Name: "example"}, nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	return httptest.NewServer(api)
}
