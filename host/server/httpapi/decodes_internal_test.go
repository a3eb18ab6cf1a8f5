package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLargeBodiesWait reads several large bodies completely. Each body must wait until the previous
// body has been decoded.
func TestLargeBodiesWait(t *testing.T) {
	decodes := newByteSemaphore(1, "large bodies")
	open := func(ctx context.Context, bytes int, user string) *body {
		return &body{
			ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat(" ", bytes))), left: 1 << 20,
			control: http.NewResponseController(httptest.NewRecorder()),
			ctx:     ctx, decodes: decodes, path: []string{"acme", user},
		}
	}
	first := open(t.Context(), largeBody+1, "ann")
	if _, err := io.ReadAll(first); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(open(t.Context(), largeBody, "bob")); err != nil {
		t.Errorf("a small body waits: %v", err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	errEnded := errors.New("ended")
	cancel(errEnded)
	if _, err := io.ReadAll(open(ended, largeBody+1, "bob")); !errors.Is(err, errEnded) {
		t.Errorf("a second large body is decoded at the same time: %v", err)
	}
	first.decoded()
	second := open(t.Context(), largeBody+1, "bob")
	if _, err := io.ReadAll(second); err != nil {
		t.Errorf("a large body after the first: %v", err)
	}
	second.free()
	if decodes.used != 0 || len(decodes.shares) != 0 {
		t.Errorf("after the requests %d large bodies are decoded, of %d owners; want none", decodes.used, len(decodes.shares))
	}
}
