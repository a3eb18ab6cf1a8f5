package extract

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/engine"
)

// parserDomain is the domain of the parsers themselves. No app has it, so that a worker that ran a
// tool does not read documents.
const parserDomain = "the parsers of documents"

var errReaderClosed = errors.New("document: the reader is closed")

// loading is an attempt to load the program. It continues for the next document if the caller gives
// up, because compiling the PDF library can take longer than clients wait.
type loading struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when err is set
	err    error
}

// load returns the program, and waits for it until ctx ends.
func (r *Reader) load(ctx context.Context) (engine.Program, error) {
	r.mu.Lock()
	if r.closed || r.program != nil {
		defer r.mu.Unlock()
		return r.current()
	}
	l := r.loading
	if l == nil {
		l = &loading{done: make(chan struct{})}
		var own context.Context
		own, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
		r.loading = l
		go r.attempt(own, l)
	}
	r.mu.Unlock()
	select {
	case <-l.done:
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
	}
	if l.err != nil {
		return nil, l.err
	}
	return r.loaded()
}

// attempt loads the program.
func (r *Reader) attempt(ctx context.Context, l *loading) {
	defer l.cancel()
	program, err := r.Engine.Load(ctx, engine.Source{Path: "reader" + Extension, Domain: parserDomain})
	r.mu.Lock()
	r.loading = nil
	unwanted := err == nil && r.closed
	if err == nil && !unwanted {
		r.program = program
	}
	r.mu.Unlock()
	if unwanted {
		err = errors.Join(errReaderClosed, program.Close()) // it has not run yet
	}
	l.err = err
	close(l.done)
}

func (r *Reader) loaded() (engine.Program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current()
}

// current returns the program, nil if it is not loaded. The caller holds mu.
func (r *Reader) current() (engine.Program, error) {
	if r.closed {
		return nil, errReaderClosed
	}
	return r.program, nil
}

// Close waits for concurrent reads and closes the program, but not the engine. It can be called
// twice.
func (r *Reader) Close() error {
	r.mu.Lock()
	r.closed = true
	program, l := r.program, r.loading
	r.mu.Unlock()
	if l != nil {
		l.cancel()
		<-l.done
	}
	if program == nil {
		return nil
	}
	return program.Close()
}
