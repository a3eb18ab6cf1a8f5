package extract_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
)

// compiling is an engine. Loading its program takes a while.
type compiling struct {
	*extract.Engine
	takes time.Duration
	loads *atomic.Int32
}

func (c compiling) Load(ctx context.Context, source engine.Source) (engine.Program, error) {
	c.loads.Add(1)
	select {
	case <-time.After(c.takes):
		return c.Engine.Load(ctx, source)
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
	}
}

// TestLoadingContinues starts reads whose deadlines are shorter than the time to load the program.
// The program must be loaded nevertheless.
func TestLoadingContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := new(atomic.Int32)
		docx := docxOf(t, "<w:p><w:r><w:t>hi</w:t></w:r></w:p>")
		reader := &extract.Reader{Engine: compiling{extract.New(), 25 * time.Second, loads}}
		read := func(patience time.Duration) (extract.Text, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			return reader.Read(ctx, admission.Flow{}, lookup(t, "docx"), slices.Clone(docx))
		}
		for range 2 {
			if _, err := read(10 * time.Second); !errors.Is(err, abi.Timeout) {
				t.Errorf("Read before the program is loaded = %v; want timeout", err)
			}
		}
		if got, err := read(10 * time.Second); err != nil || got.Text != "hi\n" || loads.Load() != 1 {
			t.Errorf("Read = %+v, %v after %d loads; want the text after one", got, err, loads.Load())
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseWhileLoading closes a reader whose program is being loaded.
func TestCloseWhileLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &extract.Reader{Engine: compiling{extract.New(), time.Hour, new(atomic.Int32)}}
		failed := make(chan error)
		go func() {
			_, err := reader.Read(t.Context(), admission.Flow{}, lookup(t, "docx"), docxOf(t, "<w:p/>"))
			failed <- err
		}()
		synctest.Wait()
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, abi.Cancelled) {
			t.Errorf("Read = %v; want cancelled", err)
		}
	})
}
