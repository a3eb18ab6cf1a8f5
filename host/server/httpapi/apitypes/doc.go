// Package apitypes defines the bodies of the HTTP API's requests and responses, for the service and
// its clients. The Result of a run is a report.Result.
package apitypes
