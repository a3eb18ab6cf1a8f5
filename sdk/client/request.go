package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
)

const (
	// prefix is the path prefix of every operation.
	prefix = "/api/v1"
	// maxAnswerBytes is the maximum size of a response, and of all events of a stream together.
	// maxAnswerBytes is larger than the limits of the service.
	maxAnswerBytes = 64 << 20
	// maxRetryAfter is the longest wait before a retry. If the service requests a longer wait than
	// maxRetryAfter, the call fails.
	maxRetryAfter = 30 * time.Second

	mediaJSON  = "application/json"
	mediaPatch = "application/merge-patch+json"
)

// request is a request to the service.
type request struct {
	method string
	// path contains the segments of the path, unescaped.
	path   []string
	query  url.Values
	header http.Header
	// text or stream is the body of the request. If the request has no body, text and stream are
	// nil. text can be sent several times, but stream can be read only once.
	text   []byte
	stream io.Reader
	media  string // the media type of the body
	// repeatable is true if the request is safe to send again.
	repeatable bool
	// onRunID is called with the id of a streamed run.
	onRunID func(string)
	// general is true if the request needs no app.
	general bool
}

// newRequest returns a request without a body. A GET is repeatable.
func newRequest(method string, path ...string) *request {
	return &request{method: method, path: path, query: url.Values{}, header: http.Header{}, repeatable: method == http.MethodGet}
}

// withJSON sets the body of the request.
func (r *request) withJSON(body any) (*request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, mistake("cannot encode the request as JSON: %v", err)
	}
	r.text, r.media = text, mediaJSON
	return r, nil
}

// set adds a parameter to the query unless its value is "".
func (r *request) set(name, value string) *request {
	if value != "" {
		r.query.Set(name, value)
	}
	return r
}

// addressOf returns the URL of the request.
func addressOf(c *Client, r *request) (string, error) {
	var path strings.Builder
	for _, segment := range r.path {
		// Proxies and routers remove these segments, so they are rejected.
		if segment == "" || segment == "." || segment == ".." {
			return "", mistake("the text %q is not a valid name or id", segment)
		}
		path.WriteString("/" + url.PathEscape(segment))
	}
	if !r.general {
		r.set("app", c.app)
	}
	address := c.base + prefix + path.String()
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	return address, nil
}

// send sends a request and retries it if possible. send returns a successful response. The caller
// of send must close the body of the response.
func (c *Client) send(ctx context.Context, r *request) (*http.Response, error) {
	address, err := addressOf(c, r)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		response, err := c.once(ctx, r, address)
		if err != nil {
			return nil, unanswered(ctx, r.method, "cannot reach the service", err)
		}
		if response.StatusCode/100 == 2 {
			return response, nil
		}
		failed := errorOf(response)
		if !r.repeatable || try >= c.retries || failed.RetryAfter <= 0 || failed.RetryAfter > maxRetryAfter || !busy(failed.Status) {
			return nil, failed
		}
		select {
		case <-time.After(failed.RetryAfter):
		case <-ctx.Done():
			failed.cause = ctx.Err()
			return nil, failed
		}
	}
}

// busy reports whether an HTTP status means that the service is temporarily busy.
func busy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

func (c *Client) once(ctx context.Context, r *request, address string) (*http.Response, error) {
	body := r.stream
	if r.text != nil {
		body = bytes.NewReader(r.text)
	}
	q, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	for name, values := range r.header {
		q.Header[name] = values
	}
	if body != nil {
		q.Header.Set("Content-Type", r.media)
	}
	q.Header.Set("User-Agent", c.agent)
	c.authorize(q.Header)
	return c.http.Do(q)
}

// retryAfter parses a Retry-After header (RFC 9110, section 10.2.3) that contains a number of
// seconds. The service never sends a date in this header.
func retryAfter(text string) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 24*60*60)) * time.Second
}

// fetch sends a request and decodes the JSON response.
func fetch[T any](ctx context.Context, c *Client, r *request) (*T, error) {
	r.header.Set("Accept", mediaJSON)
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(&bounded{response.Body, maxAnswerBytes})
	if err != nil {
		return nil, unread(ctx, r, response, err)
	}
	var answer T
	if err := json.Unmarshal(text, &answer); err != nil {
		f := abi.Faultf(abi.Unavailable, "the response is not from a toolrun service").WithHint("check the URL")
		return nil, &Error{Fault: f, Status: response.StatusCode, cause: err}
	}
	return &answer, nil
}

// fetchWith is like fetch, but sends a JSON body.
func fetchWith[T any](ctx context.Context, c *Client, r *request, body any) (*T, error) {
	r, err := r.withJSON(body)
	if err != nil {
		return nil, err
	}
	return fetch[T](ctx, c, r)
}

// unread returns the error for a response whose body could not be read completely.
func unread(ctx context.Context, r *request, response *http.Response, err error) error {
	if errors.Is(err, errTooLarge) {
		return &Error{Fault: abi.Faultf(abi.TooLarge, "the response exceeds %d MiB", maxAnswerBytes>>20), Status: response.StatusCode}
	}
	e := unanswered(ctx, r.method, "the response ended early", err)
	e.Status = response.StatusCode
	return e
}

var errTooLarge = errors.New("the response is too large")

// bounded is a reader that fails after a given number of bytes.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
