// Package client calls the HTTP API of a toolrun service: the one that toolrun serve starts.
//
// Make a [Client] with [New]. Its methods run tools and code ([Client.Run], [Client.StreamRun], [Client.RunCode]) and
// describe the app; its handles, such as [Client.Sessions] and [Client.Records], manage one kind of resource each.
// The bodies of requests and responses are the types of package host/server/httpapi/apitypes. The Result of a run is a
// report.Result, as on every surface:
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:8080", Key: key})
//	…
//	result, err := c.Run(ctx, apitypes.RunRequest{Tool: "visit", RunFields: apitypes.RunFields{
//		User: "ann", Input: json.RawMessage(`{"page": "/tea"}`),
//	}})
//
// What goes wrong is an [*Error] around an *abi.Fault, so that callers ask for stable codes:
//
//	if errors.Is(err, abi.SessionEnded) { … }
//
// The Error itself tells the HTTP status and the run that it was about. A run that the tool failed in has a Result beside
// its error.
//
// A request that is safe to repeat (it reads, or it puts or removes something whatever was there, or it is a run with an
// [IdempotencyKey]) is sent again when the service is busy and says with Retry-After how soon to ask again. Nothing else
// is ever sent twice.
package client
