package host

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/model"
)

// canceling is a local embedder that cancels a context when it is called.
type canceling struct {
	model.LocalEmbedder
	cancel context.CancelFunc
	texts  int
}

func (c *canceling) Vectors(texts []string) [][]float32 {
	c.cancel()
	c.texts += len(texts)
	return make([][]float32, len(texts))
}

// TestComputedEndsWithContext checks that few bytes are embedded after the context has ended.
func TestComputedEndsWithContext(t *testing.T) {
	large := strings.Repeat("x", 40<<10)
	ctx, cancel := context.WithCancel(t.Context())
	c := &canceling{cancel: cancel}
	_, err := computed(ctx, c, []string{large, large, large, large})
	if !errors.Is(err, context.Canceled) || c.texts != 1 {
		t.Errorf("computed embedded %d texts, %v; want 1 and context.Canceled", c.texts, err)
	}
	small := &canceling{cancel: func() {}}
	if vectors, err := computed(t.Context(), small, make([]string, 40)); err != nil || len(vectors) != 40 {
		t.Errorf("computed = %d vectors, %v; want 40", len(vectors), err)
	}
}
