// Package apitypes holds the bodies of the HTTP API's requests and answers, for the service and its clients. What memory
// and report define already has its shape there: report.Result is a run's, session.Session a session's.
package apitypes
