// Package apitypes defines the request and response bodies of the HTTP API, for the service and its
// clients. The Result of a run is a report.Result.
package apitypes
