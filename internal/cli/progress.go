package cli

import (
	"fmt"
	"sync"
	"time"
)

// The method "progress" calls the function "work". If the call takes more than a second, progress
// displays the elapsed time on stderr, provided that stderr is a terminal. While progress is
// displayed, nothing else may write to stderr. Nested calls display nothing.
func (c *console) progress(doing string, work func() error) error {
	return c.counting(func() string { return doing }, work)
}

// counting is like progress, but displays a text that changes. The function "doing" is called
// concurrently with the function "work".
func (c *console) counting(doing func() string, work func() error) error {
	if !c.env.StderrTerminal || !c.showing.CompareAndSwap(false, true) {
		return work()
	}
	defer c.showing.Store(false)
	return alongside(work, func(done <-chan struct{}) { c.tick(doing, done) })
}

// announce is like progress, but also prints a line in scripts. If stderr is not a terminal,
// announce prints one line after a second. The line names the work and the reason why the work is
// slow. With --json, announce prints nothing.
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

// alongside calls the function "work" and concurrently the function "watch". The function "watch"
// must return when its argument "done" is closed.
func alongside(work func() error, watch func(done <-chan struct{})) error {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { watch(done) })
	defer watching.Wait()
	defer close(done)
	return work()
}

// tick updates a line every second, and removes the line at the end.
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
