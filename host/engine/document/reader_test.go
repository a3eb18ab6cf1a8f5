package document_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/document"
)

// slow is an engine with one cell, in which each document takes a time.
type slow struct {
	*document.Engine
	takes time.Duration
}

type slowProgram struct {
	engine.Program
	takes time.Duration
	cell  chan struct{}
}

func (s slow) Load(ctx context.Context, source engine.Source) (engine.Program, error) {
	program, err := s.Engine.Load(ctx, source)
	return &slowProgram{program, s.takes, make(chan struct{}, 1)}, err
}

func (p *slowProgram) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	select {
	case p.cell <- struct{}{}:
		defer func() { <-p.cell }()
	case <-ctx.Done():
		return engine.Output{}, engine.EndOf(ctx)
	}
	select {
	case <-time.After(p.takes):
		return p.Program.Run(ctx, in, host)
	case <-ctx.Done():
		return engine.Output{}, engine.EndOf(ctx)
	}
}

// TestWaitingIsNotReading has more documents at a time than can be read in the time of one.
func TestWaitingIsNotReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &document.Reader{Engine: slow{document.New(), document.Time / 2}, Parallel: 1}
		txt, _ := document.Lookup("txt")
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got, err := reader.Read(t.Context(), "", txt, []byte("hi")); err != nil || got.Text != "hi" {
					t.Errorf("Read = %q, %v; want the text, however many others are read", got.Text, err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := reader.Read(ctx, "", txt, nil); !errors.Is(err, abi.Cancelled) {
			t.Errorf("Read of who does not wait = %v; want cancelled", err)
		}
		all.Wait()
		reader = &document.Reader{Engine: slow{document.New(), 2 * document.Time}}
		if _, err := reader.Read(t.Context(), "", txt, nil); !errors.Is(err, abi.Timeout) {
			t.Errorf("Read of what takes too long = %v; want timeout", err)
		}
	})
}
