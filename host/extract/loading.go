package extract

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/engine"
)

// parserDomain is the isolation domain of the parsers. No app has this domain. Therefore a worker
// that has run a tool never reads documents.
const parserDomain = "the parsers of documents"

var errReaderClosed = errors.New("document: the reader is closed")

// loading is one attempt to load the program. The attempt can take longer than clients wait,
// because the PDF library may have to be compiled. If the caller stops waiting, the attempt
// continues, and the next document uses the result.
type loading struct {
	cancel context.CancelFunc
	done   chan struct{} // done is closed after err has been set
	err    error
}

// load returns the program. If the program is not loaded yet, the method loads it. When ctx ends,
// the method stops waiting.
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
		err = errors.Join(errReaderClosed, program.Close()) // the program was never used, so its method Close does not wait
	}
	l.err = err
	close(l.done)
}

func (r *Reader) loaded() (engine.Program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current()
}

// current returns the program. If the program is not loaded, the method returns nil. The caller
// must hold the mutex mu.
func (r *Reader) current() (engine.Program, error) {
	if r.closed {
		return nil, errReaderClosed
	}
	return r.program, nil
}

// Close waits for active reads and closes the program. Close does not close the engine. Close can
// be called more than once.
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
