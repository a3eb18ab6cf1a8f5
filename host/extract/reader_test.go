package extract_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
)

// slow is an engine that has a fixed number of workers. Each document takes a while.
type slow struct {
	engine  *extract.Engine
	takes   time.Duration
	workers int
}

func (s slow) Info() engine.Info { return s.engine.Info() }

type slowProgram struct {
	engine.Program
	takes  time.Duration
	worker chan struct{}
}

func (s slow) Load(ctx context.Context, source engine.Source) (engine.Program, error) {
	program, err := s.engine.Load(ctx, source)
	return &slowProgram{program, s.takes, make(chan struct{}, max(s.workers, 1))}, err
}

func (p *slowProgram) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	select {
	case p.worker <- struct{}{}:
		defer func() { <-p.worker }()
	case <-ctx.Done():
		return engine.Output{}, engine.FaultFromContext(ctx)
	}
	select {
	case <-time.After(p.takes):
		return p.Program.Run(ctx, in, host)
	case <-ctx.Done():
		return engine.Output{}, engine.FaultFromContext(ctx)
	}
}

var pdfOfHi = pagesOf("BT /F1 12 Tf (hi) Tj ET")

// TestWaitingIsNotReading checks that the time in the queue does not count against Time.
// TestWaitingIsNotReading starts many reads at the same time. The engine cannot finish all of them
// within Time.
func TestWaitingIsNotReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &extract.Reader{Engine: slow{engine: inProcess(t), takes: extract.Time / 2}, Parallel: 1}
		pdf := lookup(t, "pdf")
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got, err := reader.Read(t.Context(), admission.Flow{}, pdf, slices.Clone(pdfOfHi)); err != nil || got.Text != "hi" {
					t.Errorf("Read = %q, %v; want the text", got.Text, err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := reader.Read(ctx, admission.Flow{}, pdf, pdfOfHi); !errors.Is(err, abi.Cancelled) {
			t.Errorf("Read with a cancelled context = %v; want cancelled", err)
		}
		all.Wait()
		reader = &extract.Reader{Engine: slow{engine: inProcess(t), takes: 2 * extract.Time}}
		if got, err := reader.Read(t.Context(), admission.Flow{}, pdf, pdfOfHi); err != nil || got.Reason != extract.TooComplex {
			t.Errorf("Read of a slow document = %+v, %v; want the reason too_complex", got, err)
		}
	})
}

// TestOneUsersDocuments sends many documents of one user. A document of another tenant must not be
// delayed. A document of another user of the same tenant must wait for at most two documents. A
// document that is already text must be read immediately.
func TestOneUsersDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = time.Second
		reader := &extract.Reader{Engine: slow{engine: inProcess(t), takes: takes, workers: 2}, Parallel: 2}
		pdf := lookup(t, "pdf")
		many, cancel := context.WithCancel(t.Context())
		refused := make(chan error, 100)
		for range 60 {
			go func() {
				_, err := reader.Read(many, admission.Flow{Tenant: "a", App: "shop", User: "bob"}, pdf, slices.Clone(pdfOfHi))
				refused <- err
			}()
		}
		synctest.Wait()
		for _, c := range []struct {
			of     admission.Flow
			format string
			data   []byte
			within time.Duration
		}{
			{admission.Flow{Tenant: "b", App: "shop", User: "eve"}, "pdf", slices.Clone(pdfOfHi), takes},
			{admission.Flow{Tenant: "a", App: "shop", User: "ann"}, "pdf", slices.Clone(pdfOfHi), 3 * takes},
			{admission.Flow{Tenant: "a", App: "other", User: "bob"}, "txt", []byte("hi"), 0},
		} {
			began := time.Now()
			got, err := reader.Read(t.Context(), c.of, lookup(t, c.format), c.data)
			if took := time.Since(began); err != nil || !strings.Contains(got.Text, "hi") || took > c.within {
				t.Errorf("the %s of %v = %q, %v after %v; want it within %v", c.format, c.of, got.Text, err, took, c.within)
			}
		}
		if err := <-refused; !errors.Is(err, abi.Unavailable) {
			t.Errorf("the first document of the user bob to end = %v; want a full queue", err)
		}
		cancel()
		synctest.Wait()
	})
}

// TestMuchOnAPage reads a PDF whose second page exceeds the budget of a page. The other pages must
// be read.
func TestMuchOnAPage(t *testing.T) {
	idle := strings.Repeat("q Q ", 32<<20)
	document := pagesOf("BT /F1 12 Tf (first) Tj ET", idle, "BT /F1 12 Tf (last) Tj ET")
	began := time.Now()
	got, err := readWith(t, "pdf", document)
	if err != nil || !got.Truncated || got.Text != "first\f\flast" {
		t.Errorf("Read = %+v, %v; want the other pages", got, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Read took %v; want it to skip the page that exceeds the budget", took)
	}
}

func readWith(t *testing.T, format string, data []byte) (extract.Text, error) {
	reader := &extract.Reader{Engine: inProcess(t)}
	return reader.Read(t.Context(), admission.Flow{}, lookup(t, format), data)
}
