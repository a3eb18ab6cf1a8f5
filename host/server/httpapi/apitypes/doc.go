// Package apitypes holds the bodies of the HTTP API's requests and answers, for the service and its clients. What memory and
// abi define already has its shape there: abi.Result is a run's, memory.Session a session's.
package apitypes
