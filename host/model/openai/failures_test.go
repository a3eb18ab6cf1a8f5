package openai_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
)

// The table maps each failure of a provider to a fault. The caller must get this fault. The number
// of requests must be limited. The fault must not contain the key or the address of the provider.
func TestEmbedFailures(t *testing.T) {
	for _, failure := range modeltest.Failures() {
		t.Run(failure.Name, func(t *testing.T) {
			s := start(t)
			s.Always(failure.Reply)
			e := embedder(t, s, openai.EmbedOptions{Dim: 2}, func(o *openai.Options) { o.Timeout = 500 * time.Millisecond })
			vectors, _, err := e.Embed(t.Context(), []string{"a"}, model.Document)
			if !errors.Is(err, abi.Code(failure.Code)) || vectors != nil {
				t.Errorf("Embed() = %v, %v; want %s", vectors, err, failure.Code)
			}
			if n := len(s.Requests()); n > failure.Requests {
				t.Errorf("the provider got %d requests; want at most %d", n, failure.Requests)
			}
			if text := err.Error(); strings.Contains(text, secretKey) || strings.Contains(text, "127.0.0.1") {
				t.Errorf("Embed() = %v; want neither the key nor the address", err)
			}
		})
	}
}

func embedder(t *testing.T, s *modeltest.Server, o openai.EmbedOptions, change func(*openai.Options)) model.Embedder {
	t.Helper()
	e, err := provider(t, s, change).Embedder(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Two values limit the number of texts in a request: the configuration, and the maximum size of an
// answer.
func TestEmbedBatch(t *testing.T) {
	s := start(t)
	for _, tc := range []struct{ batch, dim, want int }{
		{0, 4, model.DefaultBatch}, {100, 4, 100}, {2000, 1536, 113}, {10, 16_384, 10}, {2000, 16_384, 10},
	} {
		if got := embedder(t, s, openai.EmbedOptions{Dim: tc.dim, Batch: tc.batch}, nil).MaxTexts(); got != tc.want {
			t.Errorf("MaxTexts() with the batch %d and %d dimensions = %d; want %d", tc.batch, tc.dim, got, tc.want)
		}
	}
	small := embedder(t, s, openai.EmbedOptions{Dim: 1000}, func(o *openai.Options) { o.AnswerBytes = 1 << 10 })
	if got := small.MaxTexts(); got != 1 {
		t.Errorf("MaxTexts() with a small answer = %d; want 1", got)
	}
}

// The returned vectors have unit length, although the provider sends vectors of other lengths.
func TestEmbedUnitLength(t *testing.T) {
	s := start(t)
	e := embedder(t, s, openai.EmbedOptions{Dim: 2}, nil)
	for _, numbers := range []string{"3,4", "3e38,3e38", "1e-30,-1e-30", "0.1,0"} {
		s.Script(modeltest.Reply{Body: `{"data":[{"index":0,"embedding":[` + numbers + `]}]}`})
		vectors, _, err := e.Embed(t.Context(), []string{"a"}, model.Query)
		if err != nil {
			t.Errorf("%s: Embed() = %v; want a vector", numbers, err)
			continue
		}
		if length := math.Hypot(float64(vectors[0][0]), float64(vectors[0][1])); math.Abs(length-1) > 1e-6 {
			t.Errorf("%s: Embed() = %v with the length %g; want the length 1", numbers, vectors[0], length)
		}
	}
}
