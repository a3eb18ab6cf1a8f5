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
	// prefix begins the path of every operation.
	prefix = "/api/v1"
	// maxAnswerBytes bounds an answer, and all events of a stream: above what the service may answer by its own limits.
	maxAnswerBytes = 64 << 20
	// maxRetryAfter is the longest time that is waited for before a request is sent again; one that is asked to wait for
	// longer fails.
	maxRetryAfter = 30 * time.Second

	mediaJSON  = "application/json"
	mediaPatch = "application/merge-patch+json"
)

// request is what is asked of the service.
type request struct {
	method string
	// path are the segments of the path, which are escaped.
	path   []string
	query  url.Values
	header http.Header
	// The body is text, which is sent again with each try, or stream, which can be read once; or there is none.
	text   []byte
	stream io.Reader
	media  string // of the body
	// repeatable says that the request may be sent again.
	repeatable bool
	// onRunID gets the id of a run that is streamed.
	onRunID func(string)
	// general says that the request is about no app.
	general bool
}

// newRequest makes a request without a body. Those that read may be repeated.
func newRequest(method string, path ...string) *request {
	return &request{method: method, path: path, query: url.Values{}, header: http.Header{}, repeatable: method == http.MethodGet}
}

// withJSON gives the request a body.
func (r *request) withJSON(body any) (*request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, mistake("the request is no JSON: %v", err)
	}
	r.text, r.media = text, mediaJSON
	return r, nil
}

// set adds a parameter to the query; "" is left out.
func (r *request) set(name, value string) *request {
	if value != "" {
		r.query.Set(name, value)
	}
	return r
}

// address is the URL of the request.
func (c *Client) address(r *request) (string, error) {
	var path strings.Builder
	for _, segment := range r.path {
		// Neither has a way through proxies and routers, which take them for no segment, or for one less.
		if segment == "" || segment == "." || segment == ".." {
			return "", mistake("%q is no name or id that can be asked for", segment)
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

// send sends a request until it is answered with a success, whose body the caller closes.
func (c *Client) send(ctx context.Context, r *request) (*http.Response, error) {
	address, err := c.address(r)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		response, err := c.once(ctx, r, address)
		if err != nil {
			return nil, unanswered(ctx, r.method, "the service cannot be reached", err)
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

// busy reports whether a status is one that passes.
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

// retryAfter reads the header of that name (RFC 9110, section 10.2.3) where it is a number of seconds, as ours is.
func retryAfter(text string) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 24*60*60)) * time.Second
}

// fetch sends a request and reads the answer, which is JSON.
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
		f := abi.Faultf(abi.Unavailable, "the answer is not that of a toolrun service").WithHint("is the URL that of the service?")
		return nil, &Error{Fault: f, Status: response.StatusCode, cause: err}
	}
	return &answer, nil
}

// fetchWith is fetch for a request with a JSON body.
func fetchWith[T any](ctx context.Context, c *Client, r *request, body any) (*T, error) {
	r, err := r.withJSON(body)
	if err != nil {
		return nil, err
	}
	return fetch[T](ctx, c, r)
}

// unread is the error of an answer that began and did not come to its end.
func unread(ctx context.Context, r *request, response *http.Response, err error) error {
	if errors.Is(err, errTooLarge) {
		return &Error{Fault: abi.Faultf(abi.TooLarge, "the answer has more than %d MiB", maxAnswerBytes>>20), Status: response.StatusCode}
	}
	e := unanswered(ctx, r.method, "the answer broke off", err)
	e.Status = response.StatusCode
	return e
}

var errTooLarge = errors.New("the answer is too large")

// bounded is a reader that fails after a number of bytes.
type bounded struct {
	from io.Reader
	left int64
}

// Read reads on, as far as it may.
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
