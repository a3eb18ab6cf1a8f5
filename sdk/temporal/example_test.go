package temporal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/sdk/temporal"
)

// A workflow runs two function nodes. The second node gets the output of the first node as a step.
func Example() {
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\ntools:\n  price: {source: price.js}\n  label: {source: label.js}\n")},
		"price.js": {Data: []byte("return { price: input.items * 3 };")},
		"label.js": {Data: []byte("return { label: `${context.steps.price.output.price} euros` };")},
	}
	shop, _ := app.Load(files, "app.yaml")
	h, err := host.Open(context.Background(), host.Options{
		App: shop, Backend: mem.New(),
		Engines: []engine.Engine{js.New()}, // untrusted tools need workers: see engines.NewPool
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	env := suite().NewTestWorkflowEnvironment()
	env.RegisterActivity(temporal.NewActivities(h, temporal.Options{}))
	env.ExecuteWorkflow(order, 2)
	var answer json.RawMessage
	if err := env.GetWorkflowResult(&answer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(answer))
	// Output: {"label":"6 euros"}
}

// order is the workflow that README.md shows.
func order(ctx workflow.Context, items int) (json.RawMessage, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Second, HeartbeatTimeout: 10 * time.Second,
	})
	var node *temporal.Activities // nil, because a workflow needs only the names of the methods
	var price, label temporal.Result
	err := workflow.ExecuteActivity(ctx, node.RunTool, temporal.Request{
		Tool: "price", User: "ann", Input: json.RawMessage(fmt.Sprintf(`{"items": %d}`, items)),
	}).Get(ctx, &price)
	if f := temporal.FaultOf(err); f != nil { // follow the failure outcome of the node
		return json.RawMessage(fmt.Sprintf(`{"failed": %q}`, f.Code)), nil
	}
	if err != nil {
		return nil, err
	}
	steps := json.RawMessage(fmt.Sprintf(`{"steps": {"price": {"output": %s}}}`, price.Output))
	err = workflow.ExecuteActivity(ctx, node.RunTool, temporal.Request{Tool: "label", User: "ann", Context: steps}).Get(ctx, &label)
	return label.Output, err
}

// A worker runs the tools of an app. Stop the worker before closing the host.
func ExampleNewActivities() {
	_ = serve // a worker needs a Temporal server
}

// serve is also the code in README.md.
func serve(c client.Client, h *host.Host) error {
	w := worker.New(c, "shop", worker.Options{WorkerStopTimeout: 30 * time.Second})
	w.RegisterWorkflow(order)
	w.RegisterActivity(temporal.NewActivities(h, temporal.Options{}))
	return w.Run(worker.InterruptCh())
}
