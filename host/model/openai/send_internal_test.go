package openai

import (
	"net/http"
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	retryAfter := func(value string) *http.Response { return &http.Response{Header: http.Header{"Retry-After": {value}}} }
	for name, tc := range map[string]struct {
		try      int
		jitter   float64
		response *http.Response
		want     time.Duration
	}{
		"least":            {1, 0, nil, 50 * time.Millisecond},
		"half":             {1, 0.5, nil, 75 * time.Millisecond},
		"doubled":          {3, 0, nil, 200 * time.Millisecond},
		"bounded":          {60, 0, nil, 800 * time.Millisecond},
		"retry-after":      {1, 0, retryAfter("2"), 2 * time.Second},
		"huge retry-after": {1, 0, retryAfter("99999999999999"), (1 << 20) * time.Second},
		"date":             {1, 0, retryAfter("Wed, 21 Oct 2026 07:28:00 GMT"), 50 * time.Millisecond},
		"negative":         {1, 0, retryAfter("-5"), 50 * time.Millisecond},
	} {
		p := &Provider{options: Options{Backoff: 100 * time.Millisecond, Jitter: func() float64 { return tc.jitter }}}
		if got := p.delay(tc.try, tc.response); got != tc.want {
			t.Errorf("%s: delay() = %s; want %s", name, got, tc.want)
		}
	}
}

// TestProxyOfEnvironment inspects the transport instead of sending a request. net/http reads the
// environment only once per process and never uses a proxy for 127.0.0.1.
func TestProxyOfEnvironment(t *testing.T) {
	if newClient(nil).Transport.(*http.Transport).Proxy != nil {
		t.Error("newClient(nil) uses the proxy of the environment; want none")
	}
}
