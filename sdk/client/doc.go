// Package client is a client of the HTTP API of a toolrun service, which the command "toolrun
// serve" starts.
//
// Create a [Client] with [New]. The methods of the Client run tools and code ([Client.Run],
// [Client.StreamRun], [Client.RunCode]) and describe the app. Each handle of the Client, such as
// [Client.Sessions] and [Client.Records], manages one kind of resource; [Client.Agents] performs
// turns of agents, and [Client.Memory] reads and writes memory blocks. The types of request and
// response bodies are in package host/server/httpapi/apitypes. The Result of a run is a
// report.Result, which is the same in all interfaces of toolrun.
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:8080", Key: key})
//	…
//	result, err := c.Run(ctx, apitypes.RunRequest{Tool: "visit", RunFields: apitypes.RunFields{
//		User: "ann", Input: json.RawMessage(`{"page": "/tea"}`),
//	}})
//
// Every error is an [*Error] that wraps an *abi.Fault. Callers can test errors for stable codes:
//
//	if errors.Is(err, abi.SessionEnded) { … }
//
// The Error also contains the HTTP status and the id of the run. If a tool fails, the call returns
// both a Result and an error.
//
// If the service is busy and responds with Retry-After, the client retries requests that are safe
// to repeat: reads, unconditional writes and deletions, and runs with an [IdempotencyKey]. Other
// requests are sent only once.
package client
