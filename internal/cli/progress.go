package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress calls work and, where a person looks at stderr, shows after a second that it is still going on.
// Nothing else may write to stderr meanwhile. What is shown already is not shown as part of something else.
func (c *console) progress(doing string, work func() error) error {
	if !c.env.StderrTerminal || !c.showing.CompareAndSwap(false, true) {
		return work()
	}
	defer c.showing.Store(false)
	return beside(work, func(done <-chan struct{}) { c.tick(doing, done) })
}

// announce is progress for work that a script too should know of: without a terminal one line says after a second that
// it goes on, and why; but not with --json, for a program that waits for an answer.
func (c *console) announce(doing, why string, work func() error) error {
	if c.env.StderrTerminal || c.json {
		return c.progress(doing, work)
	}
	return beside(work, func(done <-chan struct{}) {
		select {
		case <-time.After(time.Second):
			c.note(dim, "note: ", doing+": "+why)
		case <-done:
		}
	})
}

// beside calls work, and meanwhile watch, which is to return when done is closed.
func beside(work func() error, watch func(done <-chan struct{})) error {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { watch(done) })
	defer watching.Wait()
	defer close(done)
	return work()
}

// tick rewrites one line each second, and removes it in the end.
func (c *console) tick(doing string, done <-chan struct{}) {
	const clear = "\r\x1b[K"
	began := time.Now()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fmt.Fprintf(c.env.Stderr, clear+"%s ... %d s", doing, int(time.Since(began).Seconds()))
		case <-done:
			if time.Since(began) >= time.Second {
				fmt.Fprint(c.env.Stderr, clear)
			}
			return
		}
	}
}
