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

// Error says why a call failed. errors.Is finds the code of its fault, and errors.As the fault.
type Error struct {
	// Fault is what went wrong. Its Outcome is "unknown" where a request may have been carried out although no answer came.
	Fault *abi.Fault
	// Status is the answer's HTTP status, 0 where there was no answer. It is 200 for a run that failed in its tool, and for
	// one that failed while it was streamed.
	Status int
	// RunID is the run that it happened in, "" for none.
	RunID string
	// Details say what in the request does not fit the API.
	Details []apitypes.ProblemDetail
	// RetryAfter is how soon the service says to ask again, 0 where it does not say.
	RetryAfter time.Duration

	cause error // of the transport, or of ctx
}

// Error is the fault's.
func (e *Error) Error() string { return e.Fault.Error() }

// Unwrap returns the fault and, where the request was not answered, what stopped it.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Fault}
	}
	return []error{e.Fault, e.cause}
}

// unknownOutcome is the Outcome of a request of which nobody knows whether it was carried out.
const unknownOutcome = "unknown"

// mistake is an error of the caller's: nothing was sent.
func mistake(format string, args ...any) error {
	return &Error{Fault: abi.Faultf(abi.InvalidArgument, format, args...)}
}

// maxProblemBytes bounds the answer to a request that failed.
const maxProblemBytes = 1 << 20

// errorOf reads an answer that is no success, and closes it.
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

// errorOfProblem makes an Error of a problem document, which has to have a code.
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

// foreignCodes are the codes of answers that are no problem documents: those of a proxy, or of another service.
var foreignCodes = map[int]abi.Code{
	http.StatusUnauthorized: abi.AccessDenied, http.StatusForbidden: abi.AccessDenied, http.StatusProxyAuthRequired: abi.AccessDenied,
	http.StatusNotFound: abi.NotFound, http.StatusRequestEntityTooLarge: abi.TooLarge, http.StatusBadRequest: abi.InvalidArgument,
}

func foreignFault(status int) *abi.Fault {
	code, ok := foreignCodes[status]
	if !ok {
		code = abi.Unavailable
	}
	f := abi.Faultf(code, "the answer is %s, and not that of a toolrun service", strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))))
	return f.WithHint("is the URL that of the service? A proxy may stand between")
}

// unanswered is the error of a request that has no answer, or no whole one; what says so.
func unanswered(ctx context.Context, method, what string, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which names users
	}
	var f *abi.Fault
	switch stopped := ctx.Err(); {
	case errors.Is(stopped, context.Canceled):
		f, err = abi.Faultf(abi.Cancelled, "the request was cancelled"), stopped
	case stopped != nil:
		f, err = abi.Faultf(abi.Timeout, "the service did not answer in time"), stopped
	default:
		f = abi.Faultf(abi.Unavailable, "%s: %v", what, err)
	}
	if op, ok := errors.AsType[*net.OpError](err); method != http.MethodGet && !(ok && op.Op == "dial") {
		f.Outcome = unknownOutcome
	}
	return &Error{Fault: f, cause: err}
}
