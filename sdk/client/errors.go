package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Error is the error of a failed call. Use errors.Is to test the code of the fault, and
// errors.AsType to get the fault.
type Error struct {
	// Fault describes the error. The Outcome of a Fault is "unknown" if there was no response
	// although the service might have executed the request.
	Fault *abi.Fault
	// Status is the HTTP status of the response, or 0 if there was no response. If a tool fails, or
	// if a streamed run fails, the status is 200.
	Status int
	// RunID is the id of the run in which the error occurred, or "".
	RunID string
	// Details lists the parts of the request that violate the API.
	Details []apitypes.ProblemDetail
	// RetryAfter is the time to wait before a retry, or 0 if the response does not specify it.
	RetryAfter time.Duration

	cause error // the error of the transport or of ctx
}

// Error returns the message of the fault.
func (e *Error) Error() string { return e.Fault.Error() }

// Unwrap returns the fault. If there was no response, Unwrap also returns the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Fault}
	}
	return []error{e.Fault, e.cause}
}

// unknownOutcome is the Outcome of a request that the service might have executed.
const unknownOutcome = "unknown"

// mistake returns an error for an invalid argument of a request that was not sent.
func mistake(format string, args ...any) error {
	return &Error{Fault: abi.Faultf(abi.InvalidArgument, format, args...)}
}

// maxProblemBytes is the maximum size of the body of an error response.
const maxProblemBytes = 1 << 20

// errorOf returns the Error of an error response, and closes its body.
func errorOf(response *http.Response) *Error {
	defer response.Body.Close()
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	text, err := io.ReadAll(io.LimitReader(response.Body, maxProblemBytes))
	var p apitypes.Problem
	if err == nil && mediaType == "application/problem+json" {
		err = json.Unmarshal(text, &p)
	}
	e := &Error{Fault: foreignFault(response.StatusCode), Status: response.StatusCode}
	if err == nil && p.Code != "" {
		e = errorOfProblem(&p)
	}
	e.Status, e.RetryAfter = response.StatusCode, retryAfter(response.Header.Get("Retry-After"))
	return e
}

// errorOfProblem returns the Error for a problem document. The problem document must have a code.
func errorOfProblem(p *apitypes.Problem) *Error {
	message := p.Detail
	for i, detail := range p.Errors {
		message += []string{": ", "; "}[min(i, 1)] + detail.Message
		if detail.Location != "" {
			message += " (" + detail.Location + ")"
		}
	}
	return &Error{
		Fault: &abi.Fault{
			Code: abi.Code(p.Code), Message: message, Store: p.Store, Item: p.Item, Violations: p.Violations, Hint: p.Hint, Outcome: p.Outcome,
			File: p.File, Line: p.Line, Column: p.Column, Stack: p.Stack,
		},
		Status: p.Status, RunID: p.RunID, Details: p.Errors,
	}
}

// foreignCodes maps HTTP statuses to fault codes. The map is used for error responses without a
// problem document, which can come from a proxy.
var foreignCodes = map[int]abi.Code{
	http.StatusUnauthorized: abi.AccessDenied, http.StatusForbidden: abi.AccessDenied, http.StatusProxyAuthRequired: abi.AccessDenied,
	http.StatusNotFound: abi.NotFound, http.StatusRequestEntityTooLarge: abi.TooLarge, http.StatusBadRequest: abi.InvalidArgument,
}

func foreignFault(status int) *abi.Fault {
	code, ok := foreignCodes[status]
	if !ok {
		code = abi.Unavailable
	}
	f := abi.Faultf(code, "the response with status %s is not from a toolrun service", strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))))
	return f.WithHint("check the URL, and whether a proxy sent the response")
}

// unanswered returns the error for a request without a complete response. what describes the
// failure.
func unanswered(ctx context.Context, method, what string, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // omit the URL, which can contain user ids
	}
	var f *abi.Fault
	switch stopped := ctx.Err(); {
	case errors.Is(stopped, context.Canceled):
		f, err = abi.Faultf(abi.Cancelled, "the request was canceled"), stopped
	case stopped != nil:
		f, err = abi.Faultf(abi.Timeout, "the service did not respond in time"), stopped
	default:
		f = abi.Faultf(abi.Unavailable, "%s: %v", what, err)
	}
	if op, ok := errors.AsType[*net.OpError](err); method != http.MethodGet && !(ok && op.Op == "dial") {
		f.Outcome = unknownOutcome
	}
	return &Error{Fault: f, cause: err}
}
