package httpapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
)

// bodyKey is where a request's context has its body: what went wrong with it is told by the body alone.
type bodyKey struct{}

// intake makes of a request one that can be read in one way only, and bounds what its body may take.
func prepareRequest(ctx huma.Context) (huma.Context, error) {
	r, w := humago.Unwrap(ctx)
	query, err := plainQuery(r.URL.RawQuery)
	if err != nil {
		return ctx, err
	}
	r.URL.RawQuery = query
	r.Header.Del("Accept") // there is one kind of answer
	control, op := http.NewResponseController(w), ctx.Operation()
	if op.RequestBody == nil {
		r.Body = http.NoBody
		keepReading(control)
		return ctx, nil
	}
	if err := plainContentType(r, op.RequestBody); err != nil {
		return ctx, err
	}
	_ = control.SetReadDeadline(time.Now().Add(op.BodyReadTimeout))
	if r.ContentLength > op.MaxBodyBytes {
		discard(r, r.Body)
		return ctx, bodyTooLarge
	}
	b := &body{ReadCloser: r.Body, left: op.MaxBodyBytes, control: control, document: op.OperationID == importStores}
	r.Body = b
	return huma.WithValue(ctx, bodyKey{}, b), nil
}

// plainQuery returns a query in which each parameter is written once and as name=value. The framework reads others in
// ways of its own: of two values it takes the first, and one that is not written well it takes for "".
func plainQuery(raw string) (string, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return "", abi.Faultf(abi.InvalidArgument, "the query is not written as queries are: it has a bad escape, or a semicolon")
	}
	for _, values := range query {
		if len(values) > 1 {
			return "", abi.Faultf(abi.InvalidArgument, "a query parameter is given more than once")
		}
	}
	return query.Encode(), nil
}

// plainContentType refuses a body of a type that the operation does not take.
func plainContentType(r *http.Request, takes *huma.RequestBody) error {
	given := r.Header.Values("Content-Type")
	if len(given) == 0 && takes.Content[jsonType] != nil {
		return nil
	}
	var kind string
	var parameters map[string]string
	err := errors.New("none or several")
	if len(given) == 1 {
		kind, parameters, err = mime.ParseMediaType(given[0])
	}
	charset := parameters["charset"]
	if err != nil || takes.Content[kind] == nil || charset != "" && !strings.EqualFold(charset, "utf-8") {
		f := abi.Faultf(abi.InvalidArgument, "the body is of a content type that is not taken here")
		return problemOfFault(f.WithHint("send %s", strings.Join(contentTypes(takes), " or ")), http.StatusUnsupportedMediaType)
	}
	if kind != multipartType { // whose boundary is still needed
		r.Header.Set("Content-Type", kind)
	}
	return nil
}

const (
	jsonType      = "application/json"
	patchType     = "application/merge-patch+json"
	multipartType = "multipart/form-data"
)

func contentTypes(takes *huma.RequestBody) []string {
	types := []string{}
	for kind := range takes.Content {
		types = append(types, kind)
	}
	return sorted(types, func(s string) string { return s })
}

var bodyTooLarge = abi.Faultf(abi.TooLarge, "the body is larger than it may be")

// body is that of a request.
type body struct {
	io.ReadCloser
	left    int64
	control *http.ResponseController
	// held is the room that the body has, nil where it needs none; paid is the length that it is enough for.
	held       *reservation
	read, paid int64
	document   bool            // it is read as an app file
	maxHeld    int64           // that a caller may hold
	ctx        context.Context // for how long room is waited for
	// err is why it cannot be read, nil while it can be; ended says that nothing more comes.
	err   error
	ended bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.read += int64(n)
	switch {
	case b.left < 0:
		b.err = bodyTooLarge
	case b.unpaid():
	case err == io.EOF:
		b.ended = true
		keepReading(b.control)
		return n, err
	case err != nil:
		b.ended = true
		b.err = unreadable(err)
	}
	return n, b.err
}

// Close leaves the body open, so that discardRest can read on; the server closes it.
func (b *body) Close() error { return nil }

func unreadable(err error) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return problemOfFault(abi.Faultf(abi.Timeout, "the body was sent too slowly"), http.StatusRequestTimeout)
	}
	return abi.Faultf(abi.InvalidArgument, "the body ends before its end, or is not written as HTTP has it")
}

// maxDiscarded is how much of a body is read that nobody wants.
const maxDiscarded = 256 << 20

// discard reads what is left of a body that is refused, up to the deadline that the connection has for reading: a client
// that writes all of its request first would find the connection reset, and not the answer. One that waits for leave to
// send its body gets none.
func discard(r *http.Request, rest io.Reader) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, rest, maxDiscarded)
	}
}

// discardRest reads what an operation left of its body.
func (b *body) discardRest(r *http.Request) {
	if b != nil && !b.ended {
		discard(r, b.ReadCloser)
	}
}

// keepReading takes away the deadline for reading. The server reads on to notice that the client hangs up, and what ends
// that reading, a deadline included, counts as having hung up: it would cancel a run that takes longer.
func keepReading(control *http.ResponseController) { _ = control.SetReadDeadline(time.Time{}) }

// bodyOf is the body of the request of a context, nil where it has none.
func bodyOf(ctx context.Context) *body {
	b, _ := ctx.Value(bodyKey{}).(*body)
	return b
}
