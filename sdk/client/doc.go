// Package client is a client of the HTTP API of a toolrun service, which toolrun serve starts.
//
// Make a [Client] with [New]. Its methods run tools and code ([Client.Run], [Client.StreamRun],
// [Client.RunCode]) and describe the app. Its handles, such as [Client.Sessions] and
// [Client.Records], each manage one kind of resource. The bodies of requests and responses are the
// types of package host/server/httpapi/apitypes. The Result of a run is a report.Result, as on
// every surface:
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:8080", Key: key})
//	…
//	result, err := c.Run(ctx, apitypes.RunRequest{Tool: "visit", RunFields: apitypes.RunFields{
//		User: "ann", Input: json.RawMessage(`{"page": "/tea"}`),
//	}})
//
// Errors are an [*Error] that wraps an *abi.Fault, so that callers can test for stable codes:
//
//	if errors.Is(err, abi.SessionEnded) { … }
//
// The Error also has the HTTP status and the id of the run. If a tool failed, the call returns both
// a Result and an error.
//
// A request is retried if the service is busy and sets Retry-After, and if it is safe to repeat:
// reads, unconditional writes and deletions, and runs with an [IdempotencyKey]. Other requests are
// sent only once.
package client
