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

// problem is an error that becomes the answer.
type problem struct {
	apitypes.Problem
	header http.Header
}

var (
	_ huma.StatusError       = (*problem)(nil)
	_ huma.ContentTypeFilter = (*problem)(nil)
)

// GetStatus is the answer's status.
func (p *problem) GetStatus() int { return p.Status }

// GetHeaders are the answer's headers beside the usual ones.
func (p *problem) GetHeaders() http.Header { return p.header }

// ContentType is that of a problem document.
func (p *problem) ContentType(string) string { return "application/problem+json" }

// Schema describes a problem document as what it is, and not as this type.
func (p *problem) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(problemType, true, "Problem")
}

// statuses are the answers for faults.
var statusOfCode = map[abi.Code]int{
	abi.NotFound: http.StatusNotFound, abi.AccessDenied: http.StatusForbidden, abi.ReadOnly: http.StatusForbidden,
	abi.SchemaViolation: http.StatusUnprocessableEntity, abi.Conflict: http.StatusConflict,
	abi.NoUser: http.StatusBadRequest, abi.NoSession: http.StatusBadRequest, abi.SessionEnded: http.StatusGone,
	abi.InvalidArgument: http.StatusBadRequest, abi.TooLarge: http.StatusRequestEntityTooLarge,
	abi.QuotaExceeded: http.StatusInsufficientStorage, abi.Unavailable: http.StatusServiceUnavailable,
	abi.InputInvalid: http.StatusUnprocessableEntity, abi.SourceInvalid: http.StatusUnprocessableEntity,
	abi.ABIMismatch: http.StatusUnprocessableEntity, abi.Timeout: http.StatusGatewayTimeout,
	abi.Cancelled: statusClientClosed, abi.Internal: http.StatusInternalServerError,
}

// httpHints replace the hints of faults that the members of a request mend. What other packages write is for those who call
// them.
var httpHints = map[abi.Code]string{
	abi.NoUser: "name the user with user_id", abi.NoSession: "name the session with session_id",
}

// statusClientClosed is what logs call a request whose client hung up; no client sees it.
const statusClientClosed = 499

// title is in words what a status says, also where net/http has none.
func statusTitle(status int) string {
	if status == statusClientClosed {
		return "Cancelled"
	}
	return http.StatusText(status)
}

// problemOf makes an answer of an error. What is no fault is nobody's business.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if f, ok := errors.AsType[*abi.Fault](err); ok { // which may be the error of a context too
		return problemOfFault(f, 0)
	}
	if errors.Is(err, context.Canceled) {
		err = abi.Faultf(abi.Cancelled, "the request was cancelled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = abi.Faultf(abi.Timeout, "the request took longer than it may take")
	}
	return problemOfFault(abi.FaultOf(err), 0)
}

// problemOfFault makes an answer of a fault; status 0 is the one that goes with its code.
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

// codesOf are the faults for what the framework finds wrong with a request.
var codeOfStatus = map[int]abi.Code{
	http.StatusNotFound: abi.NotFound, http.StatusForbidden: abi.AccessDenied, http.StatusUnauthorized: abi.AccessDenied,
	http.StatusRequestEntityTooLarge: abi.TooLarge, http.StatusRequestTimeout: abi.Timeout, http.StatusTooManyRequests: abi.Unavailable,
	http.StatusInternalServerError: abi.Internal, http.StatusPreconditionFailed: abi.Conflict,
}

// newProblem makes an answer of what the framework says of a request. It echoes no values, which may be secrets.
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
