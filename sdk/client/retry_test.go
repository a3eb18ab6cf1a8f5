package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// busyService responds to a number of requests with a busy status, and then succeeds.
type busyService struct {
	status int
	after  string // Retry-After
	left   int
	bodies []string
}

func (b *busyService) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	b.bodies = append(b.bodies, body)
	if b.left--; b.left < 0 {
		return answer(200, strings.NewReader(`{"ok":true,"content":1}`), "Content-Type", "application/json"), nil
	}
	problem := `{"code":"unavailable","detail":"too many requests"}`
	return answer(b.status, strings.NewReader(problem), "Content-Type", "application/problem+json", "Retry-After", b.after), nil
}

func TestRetry(t *testing.T) {
	one := int64(1)
	get := func(ctx context.Context, c *client.Client) error { _, err := c.Stores().Get(ctx, "prefs"); return err }
	runs := func(opts ...client.RunOption) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.Run(ctx, apitypes.RunRequest{Tool: "t"}, opts...)
			return err
		}
	}
	put := func(revision *int64) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.Records().Put(ctx, client.Caller{}, "prefs", []byte(`{}`), client.WriteOptions{IfRevision: revision})
			return err
		}
	}
	for _, tt := range []struct {
		name    string
		service busyService
		retries int
		call    func(context.Context, *client.Client) error
		sent    int
		waited  time.Duration
		ok      bool
	}{
		{name: "a read", service: busyService{429, "2", 2, nil}, call: get, sent: 3, waited: 4 * time.Second, ok: true},
		{name: "an unavailable read", service: busyService{503, "1", 1, nil}, call: get, sent: 2, waited: time.Second, ok: true},
		{name: "too many times", service: busyService{429, "1", 9, nil}, call: get, sent: 4, waited: 3 * time.Second},
		{name: "without retries", service: busyService{429, "1", 9, nil}, retries: -1, call: get, sent: 1},
		{name: "a long Retry-After", service: busyService{429, "31", 1, nil}, call: get, sent: 1},
		{name: "a huge Retry-After", service: busyService{429, "99999999999999999999", 1, nil}, call: get, sent: 1},
		{name: "no Retry-After", service: busyService{429, "", 1, nil}, call: get, sent: 1},
		{name: "another failure", service: busyService{500, "1", 1, nil}, call: get, sent: 1},
		{name: "a run", service: busyService{429, "1", 1, nil}, call: runs(), sent: 1},
		{name: "a run with no key", service: busyService{429, "1", 1, nil}, call: runs(client.IdempotencyKey("")), sent: 1},
		{name: "a run with a key", service: busyService{429, "1", 1, nil}, call: runs(client.IdempotencyKey("k")), sent: 2, waited: time.Second, ok: true},
		{name: "a write", service: busyService{429, "1", 1, nil}, call: put(nil), sent: 2, waited: time.Second, ok: true},
		{name: "a conditional write", service: busyService{429, "1", 1, nil}, call: put(&one), sent: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t, client.Options{URL: "http://service.example", HTTPClient: &http.Client{Transport: &tt.service}, Retries: tt.retries})
			began := time.Now()
			err := tt.call(t.Context(), c)
			if waited := time.Since(began); (err == nil) != tt.ok || len(tt.service.bodies) != tt.sent || waited != tt.waited {
				t.Errorf("%s: %v after %d requests and %v; want %d and %v", tt.name, err, len(tt.service.bodies), waited, tt.sent, tt.waited)
			}
			for _, body := range tt.service.bodies {
				if body != tt.service.bodies[0] {
					t.Errorf("%s: sent %q; want equal bodies", tt.name, tt.service.bodies)
				}
			}
		})
	}
}

// TestRetryCancelled checks that the end of ctx stops the wait before a retry.
func TestRetryCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		busy := &busyService{429, "20", 1, nil}
		c := newClient(t, client.Options{URL: "http://service.example", HTTPClient: &http.Client{Transport: busy}})
		began := time.Now()
		_, err := c.Whoami(ctx)
		if waited := time.Since(began); waited != time.Second || !errors.Is(err, abi.Unavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Whoami = %v after %v; want a busy service after one second", err, waited)
		}
	})
}
