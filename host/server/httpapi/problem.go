package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// problem is an error that is sent as a response.
type problem struct {
	apitypes.Problem
	header http.Header
}

var (
	_ huma.StatusError       = (*problem)(nil)
	_ huma.ContentTypeFilter = (*problem)(nil)
)

// GetStatus returns the status of the response.
func (p *problem) GetStatus() int { return p.Status }

// GetHeaders returns the response headers that this problem adds.
func (p *problem) GetHeaders() http.Header { return p.header }

// ContentType returns the media type of problem documents.
func (p *problem) ContentType(string) string { return "application/problem+json" }

// Schema returns the schema of a problem document. Without this method, the framework would derive
// a schema from the Go type.
func (p *problem) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(problemType, true, "Problem")
}

// statusOfCode maps the code of a fault to a status.
var statusOfCode = map[abi.Code]int{
	abi.NotFound: http.StatusNotFound, abi.AccessDenied: http.StatusForbidden, abi.ReadOnly: http.StatusForbidden,
	abi.SchemaViolation: http.StatusUnprocessableEntity, abi.Conflict: http.StatusConflict,
	abi.NoUser: http.StatusBadRequest, abi.NoSession: http.StatusBadRequest, abi.SessionEnded: http.StatusGone,
	abi.NoWorkflow: http.StatusBadRequest, abi.NoAgent: http.StatusBadRequest, abi.WorkflowEnded: http.StatusGone,
	abi.InvalidArgument: http.StatusBadRequest, abi.TooLarge: http.StatusRequestEntityTooLarge,
	abi.QuotaExceeded: http.StatusInsufficientStorage, abi.Unavailable: http.StatusServiceUnavailable,
	abi.InputInvalid: http.StatusUnprocessableEntity, abi.SourceInvalid: http.StatusUnprocessableEntity,
	abi.ABIMismatch: http.StatusUnprocessableEntity, abi.Timeout: http.StatusGatewayTimeout,
	abi.Cancelled: statusClientClosed, abi.Internal: http.StatusInternalServerError,
}

// httpHints contains hints for errors that a client can fix in the request body. The hints in
// httpHints replace the hints of the faults. The hints of other packages address callers of Go
// functions.
var httpHints = map[abi.Code]string{
	abi.NoUser: "set the user with user_id", abi.NoSession: "set the session with session_id",
	abi.NoAgent:    "set the agent with `agent_id`",
	abi.NoWorkflow: "set the workflow with workflow_id, or the session with session_id",
}

// statusClientClosed is the logged status of a request whose client disconnected.
// statusClientClosed is never sent.
const statusClientClosed = 499

// statusTitle returns the title of a status. statusTitle includes statuses that net/http does not
// define.
func statusTitle(status int) string {
	if status == statusClientClosed {
		return "Cancelled"
	}
	return http.StatusText(status)
}

// problemOf returns the problem for an error. problemOf hides the details of errors that are not
// faults.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if f, ok := errors.AsType[*abi.Fault](err); ok { // checked first, because a fault may wrap a context error
		return problemOfFault(f, 0)
	}
	if errors.Is(err, context.Canceled) {
		err = abi.Faultf(abi.Cancelled, "the request was canceled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = abi.Faultf(abi.Timeout, "the request exceeded its time limit")
	}
	return problemOfFault(abi.FaultOf(err), 0)
}

// problemOfFault returns the problem for a fault. If status is 0, the fault code determines the
// status.
func problemOfFault(f *abi.Fault, status int) *problem {
	if status == 0 {
		status = StatusOf(f.Code)
	}
	if hint := httpHints[f.Code]; hint != "" {
		f = f.WithHint("%s", hint)
	}
	p := &problem{Problem: apitypes.Problem{
		Type: "urn:toolrun:fault:" + string(f.Code), Title: statusTitle(status), Status: status, Detail: f.Message, Code: string(f.Code),
		Hint: f.Hint, Store: f.Store, Item: f.Item, Violations: f.Violations, Outcome: f.Outcome,
		File: f.File, Line: f.Line, Column: f.Column, Stack: f.Stack,
	}}
	if f.Code == abi.Unavailable {
		p.header = http.Header{"Retry-After": {"1"}}
	}
	return p
}

// codeOfStatus returns the fault code for an error status of the framework.
var codeOfStatus = map[int]abi.Code{
	http.StatusNotFound: abi.NotFound, http.StatusForbidden: abi.AccessDenied, http.StatusUnauthorized: abi.AccessDenied,
	http.StatusRequestEntityTooLarge: abi.TooLarge, http.StatusRequestTimeout: abi.Timeout, http.StatusTooManyRequests: abi.Unavailable,
	http.StatusInternalServerError: abi.Internal, http.StatusPreconditionFailed: abi.Conflict,
}

// newProblem returns the problem for an error of the framework. newProblem omits the rejected
// values, because they may be secrets.
func newProblem(status int, text string, errs ...error) huma.StatusError {
	for _, err := range errs {
		if p, ok := errors.AsType[*problem](err); ok {
			return p
		}
		if f, ok := errors.AsType[*abi.Fault](err); ok {
			return problemOf(f)
		}
	}
	code, ok := codeOfStatus[status]
	if !ok {
		code = abi.InvalidArgument
	}
	p := problemOfFault(abi.Faultf(code, "%s", strings.ToLower(text[:min(1, len(text))])+text[min(1, len(text)):]), status)
	for _, err := range errs {
		var detail apitypes.ProblemDetail
		if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			detail = apitypes.ProblemDetail{Message: d.Message, Location: d.Location}
		} else if err != nil {
			detail = apitypes.ProblemDetail{Message: err.Error()}
		}
		p.Errors = append(p.Errors, detail)
	}
	return p
}
