package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress calls the function "work". If the call takes more than a second and stderr is a
// terminal, the method displays the elapsed time on stderr. While progress is displayed, nothing
// else may write to stderr. Nested calls display nothing.
func (c *console) progress(doing string, work func() error) error {
	return c.counting(func() string { return doing }, work)
}

// counting is like the method "progress", but also displays the text that the function "doing"
// returns. The function "doing" is called concurrently with the function "work".
func (c *console) counting(doing func() string, work func() error) error {
	if !c.env.StderrTerminal || !c.showing.CompareAndSwap(false, true) {
		return work()
	}
	defer c.showing.Store(false)
	return alongside(work, func(done <-chan struct{}) { c.tick(doing, done) })
}

// announce is like the method "progress", but also prints a line if stderr is not a terminal. If
// stderr is not a terminal, the method prints one line after a second. The printed line describes
// the work and explains why the work is slow. If the flag --json is set, the method prints nothing.
func (c *console) announce(doing, why string, work func() error) error {
	if c.env.StderrTerminal || c.json {
		return c.progress(doing, work)
	}
	return alongside(work, func(done <-chan struct{}) {
		select {
		case <-time.After(time.Second):
			c.note(dim, "note: ", doing+": "+why)
		case <-done:
		}
	})
}

// alongside calls the functions "work" and "watch" concurrently. The function "watch" must return
// when its argument "done" is closed.
func alongside(work func() error, watch func(done <-chan struct{})) error {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { watch(done) })
	defer watching.Wait()
	defer close(done)
	return work()
}

// tick updates a line every second. When the work is done, the method removes the line.
func (c *console) tick(doing func() string, done <-chan struct{}) {
	const clear = "\r\x1b[K"
	began := time.Now()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fmt.Fprintf(c.env.Stderr, clear+"%s ... %d s", doing(), int(time.Since(began).Seconds()))
		case <-done:
			if time.Since(began) >= time.Second {
				fmt.Fprint(c.env.Stderr, clear)
			}
			return
		}
	}
}
