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
	"github.com/toolrun/toolrun/internal/bytesize"
)

// bodyKey is the context key of the request's *body. Only the type body records why a body could
// not be read.
type bodyKey struct{}

// prepareRequest normalizes a request, so that all readers interpret the request in the same way.
// prepareRequest also limits the size of the body.
func prepareRequest(ctx huma.Context) (huma.Context, error) {
	r, w := humago.Unwrap(ctx)
	query, err := plainQuery(r.URL.RawQuery)
	if err != nil {
		return ctx, err
	}
	r.URL.RawQuery = query
	r.Header.Del("Accept") // all responses have the same media type
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
		return ctx, bodyTooLarge(op.MaxBodyBytes)
	}
	b := &body{ReadCloser: r.Body, left: op.MaxBodyBytes, control: control, document: op.OperationID == importStores}
	r.Body = b
	return huma.WithValue(ctx, bodyKey{}, b), nil
}

// plainQuery returns a query in which each parameter occurs once, as name=value. The framework is
// too lenient: if a parameter has two values, the framework uses the first value, and it treats a
// malformed value as "".
func plainQuery(raw string) (string, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return "", abi.Faultf(abi.InvalidArgument, "the query string is malformed: it has an invalid escape or a semicolon")
	}
	for name, values := range query {
		if len(values) > 1 {
			return "", abi.Faultf(abi.InvalidArgument, "the query parameter %q occurs more than once", truncatedName(name))
		}
	}
	return query.Encode(), nil
}

// plainContentType rejects a body if the operation does not accept its content type.
func plainContentType(r *http.Request, takes *huma.RequestBody) error {
	provided := r.Header.Values("Content-Type")
	if len(provided) == 0 && takes.Content[jsonType] != nil {
		return nil
	}
	var kind string
	var parameters map[string]string
	err := errors.New("the request must have exactly one content type")
	if len(provided) == 1 {
		kind, parameters, err = mime.ParseMediaType(provided[0])
	}
	charset := parameters["charset"]
	if err != nil || takes.Content[kind] == nil || charset != "" && !strings.EqualFold(charset, "utf-8") {
		f := abi.Faultf(abi.InvalidArgument, "this operation does not support the content type of the body")
		return problemOfFault(f.WithHint("send %s", strings.Join(contentTypes(takes), " or ")), http.StatusUnsupportedMediaType)
	}
	if kind != multipartType { // multipart still needs the boundary parameter
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

// bodyTooLarge returns the fault for a body that exceeds a limit in bytes.
func bodyTooLarge(limit int64) error {
	return abi.Faultf(abi.TooLarge, "the body exceeds %s", bytesize.Format(limit))
}

// body is the body of a request.
type body struct {
	io.ReadCloser
	left    int64
	control *http.ResponseController
	// held is the memory reserved for the body, or nil if the body needs none. paid is the number
	// of bytes that the reservation covers.
	held       *reservation
	read, paid int64
	document   bool            // the body is an app file
	maxHeld    int64           // maximum number of bytes that a caller may reserve
	ctx        context.Context // limits the wait for memory
	// err contains the reason why the body cannot be read, or nil. ended reports whether the end of
	// the body was reached.
	err   error
	ended bool
	// decodes limits concurrent decoding of large bodies. path identifies the owner of the body for
	// this limit.
	decodes  *byteSemaphore
	path     []string
	decoding *reservation
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
		b.err = bodyTooLarge(b.left + b.read)
	case b.unpaid():
	case err == io.EOF:
		b.ended = true
		keepReading(b.control)
		if b.err = b.startDecoding(); b.err != nil {
			return n, b.err
		}
		return n, err
	case err != nil:
		b.ended = true
		b.err = unreadable(err)
	}
	return n, b.err
}

// Close does nothing, so that discardRest can continue to read. The server closes the body.
func (b *body) Close() error { return nil }

func unreadable(err error) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return problemOfFault(abi.Faultf(abi.Timeout, "the client sent the body too slowly"), http.StatusRequestTimeout)
	}
	return abi.Faultf(abi.InvalidArgument, "the body is truncated or malformed")
}

// maxDiscarded is the maximum number of bytes of a rejected body that are read and discarded.
const maxDiscarded = 256 << 20

// discard reads the rest of a rejected body until the connection's read deadline. Some clients
// write their whole request before they read the response. Without discard, these clients would see
// a connection reset instead of the response. If the client sent "Expect: 100-continue", discard
// does not ask the client for the body.
func discard(r *http.Request, rest io.Reader) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, rest, maxDiscarded)
	}
}

// discardRest reads the bytes of the body that an operation did not read.
func (b *body) discardRest(r *http.Request) {
	if b != nil && !b.ended {
		discard(r, b.ReadCloser)
	}
}

// keepReading removes the read deadline. The server continues to read in order to notice
// disconnects. If the read deadline expired during a long run, the server would treat this as a
// disconnect and cancel the run.
func keepReading(control *http.ResponseController) { _ = control.SetReadDeadline(time.Time{}) }

// bodyOf returns the request body stored in a context, or nil.
func bodyOf(ctx context.Context) *body {
	b, _ := ctx.Value(bodyKey{}).(*body)
	return b
}
