package httpapi

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
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/jsondoc"
)

// bodyKey is where a request's context has its body: what went wrong with it is told by the body alone.
type bodyKey struct{}

// intake makes of a request one that can be read in one way only, and bounds what its body may take.
func intake(ctx huma.Context) (huma.Context, error) {
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
	if r.ContentLength > op.MaxBodyBytes {
		return ctx, bodyTooLarge
	}
	_ = control.SetReadDeadline(time.Now().Add(op.BodyReadTimeout))
	b := &body{ReadCloser: r.Body, left: op.MaxBodyBytes, control: control}
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
	// err is why it cannot be read, nil while it can be.
	err error
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		b.err = bodyTooLarge
	case err == io.EOF:
		keepReading(b.control)
		return n, err
	case err != nil:
		b.err = unreadable(err)
	}
	return n, b.err
}

func unreadable(err error) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return problemOfFault(abi.Faultf(abi.Timeout, "the body was sent too slowly"), http.StatusRequestTimeout)
	}
	return abi.Faultf(abi.InvalidArgument, "the body ends before its end, or is not written as HTTP has it")
}

// keepReading takes away the deadline for reading. The server reads on to notice that the client hangs up, and what ends
// that reading, a deadline included, counts as having hung up: it would cancel a run that takes longer.
func keepReading(control *http.ResponseController) { _ = control.SetReadDeadline(time.Time{}) }

// bodyOf is the body of the request of a context, nil where it has none.
func bodyOf(ctx context.Context) *body {
	b, _ := ctx.Value(bodyKey{}).(*body)
	return b
}

// jsonFormat reads bodies more strictly than encoding/json: what passes means the same to every reader.
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: decodeBody}

func decodeBody(text []byte, v any) error {
	if _, first := v.(*any); first { // the framework reads a body twice: as any value, and as what is wanted
		if err := jsondoc.Check(text, jsondoc.Limits{}); err != nil {
			return err
		}
	}
	err := json.Unmarshal(text, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // whose text names types of Go
		return fmt.Errorf("%s is no number that it may be", wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:])
	}
	return err
}

// plainText refuses names and metadata that would harm who prints them: control characters in references, and in the
// names of members.
func plainText(metadata json.RawMessage, references ...string) error {
	for _, text := range references {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return abi.Faultf(abi.InvalidArgument, "a reference has control characters")
		}
	}
	var v any
	if len(metadata) > 0 && json.Unmarshal(metadata, &v) == nil && !plainNames(v) {
		return abi.Faultf(abi.InvalidArgument, "a name in the metadata has control characters")
	}
	return nil
}

func plainNames(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if strings.ContainsFunc(name, unicode.IsControl) || !plainNames(member) {
				return false
			}
		}
	case []any:
		for _, element := range v {
			if !plainNames(element) {
				return false
			}
		}
	}
	return true
}
