package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

var (
	errRedirect = errors.New("redirect to another host")
	errTooLarge = errors.New("answer too large")
)

// sender sends one request, with retries. sender reads the whole answer first. Therefore the size
// of the answer is checked before the answer is parsed.
type sender struct {
	provider       *Provider
	idempotencyKey string
}

// Do implements openai.HTTPDoer.
func (s *sender) Do(request *http.Request) (*http.Response, error) {
	if s.idempotencyKey != "" {
		// The name of the header Idempotency-Key is not in canonical form here. If the name were
		// canonical, net/http would resend a request after a lost connection. Not every provider
		// supports the header, so a provider could execute a resent request twice.
		request.Header["idempotency-key"] = []string{s.idempotencyKey}
	}
	for try := 1; ; try++ {
		response, err := s.once(request)
		if try == s.provider.options.Tries || !temporary(response, err) {
			return response, err
		}
		if !s.provider.wait(request.Context(), try, response) {
			return response, err
		}
		if request, err = again(request); err != nil {
			return nil, err
		}
	}
}

func (s *sender) once(request *http.Request) (*http.Response, error) {
	response, err := s.provider.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	limit := s.provider.options.AnswerBytes
	content, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > limit {
		return nil, errTooLarge
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, nil
}

// again returns a copy of a request. The body of the original request has already been read.
func again(request *http.Request) (*http.Request, error) {
	repeated := request.Clone(request.Context())
	if request.GetBody == nil {
		return repeated, nil
	}
	body, err := request.GetBody()
	repeated.Body = body
	return repeated, err
}

// temporary reports whether a request can be repeated: The provider has not processed the request,
// but may process a repeated request. If a connection existed before the error, the error is not
// temporary, because the provider may have processed the request.
func temporary(response *http.Response, err error) bool {
	if err != nil {
		dial, ok := errors.AsType[*net.OpError](err)
		return ok && dial.Op == "dial"
	}
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return true
	case response.StatusCode == http.StatusNotImplemented:
		return false
	}
	return response.StatusCode >= http.StatusInternalServerError
}

// wait waits before the next try. If the deadline is earlier than the end of the wait, the method
// returns false without waiting.
func (p *Provider) wait(ctx context.Context, try int, response *http.Response) bool {
	d := p.delay(try, response)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// delay returns the delay after the given number of tries. One half of the backoff is fixed, and
// the other half is multiplied by the jitter. If the header Retry-After contains a longer delay,
// this delay is used.
func (p *Provider) delay(try int, response *http.Response) time.Duration {
	const maxDoublings = 4
	backoff := p.options.Backoff << min(try-1, maxDoublings)
	d := backoff/2 + time.Duration(float64(backoff/2)*p.options.Jitter())
	if response == nil {
		return d
	}
	const maxSeconds = 1 << 20
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return d
	}
	return max(d, time.Duration(min(seconds, maxSeconds))*time.Second)
}
