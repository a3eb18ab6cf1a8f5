package extract

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/engine"
)

// domainOfParsers is that of their own code, which is no app's: no cell that ran a tool reads documents.
const domainOfParsers = "the parsers of documents"

var errReaderClosed = errors.New("document: the reader is closed")

// loading is an attempt to load the program. It goes on when the document that began it is given up, for the next one:
// compiling the library for PDF can take longer than clients wait.
type loading struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when err is set
	err    error
}

// load returns the program, and waits for it as long as ctx lets it.
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
		return nil, engine.EndOf(ctx)
	}
	if l.err != nil {
		return nil, l.err
	}
	return r.loaded()
}

// attempt loads the program.
func (r *Reader) attempt(ctx context.Context, l *loading) {
	defer l.cancel()
	program, err := r.Engine.Load(ctx, engine.Source{Path: "reader" + Extension, Domain: domainOfParsers})
	r.mu.Lock()
	r.loading = nil
	unwanted := err == nil && r.closed
	if err == nil && !unwanted {
		r.program = program
	}
	r.mu.Unlock()
	if unwanted {
		err = errors.Join(errReaderClosed, program.Close()) // nothing ran in it
	}
	l.err = err
	close(l.done)
}

func (r *Reader) loaded() (engine.Program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current()
}

// current returns the program, nil before it is loaded. The caller holds mu.
func (r *Reader) current() (engine.Program, error) {
	if r.closed {
		return nil, errReaderClosed
	}
	return r.program, nil
}

// Close waits for the documents under way and lets go of the program; the engine stays its owner's. Closing twice is fine.
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
