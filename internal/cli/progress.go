package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress calls work and, where a person looks at stderr, shows after a second that it is still going on.
// Nothing else may write to stderr meanwhile.
func (p *program) progress(doing string, work func() error) error {
	if !p.env.StderrTerminal {
		return work()
	}
	done := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() { p.tick(doing, done) })
	defer shown.Wait()
	defer close(done)
	return work()
}

// tick rewrites one line each second, and removes it in the end.
func (p *program) tick(doing string, done <-chan struct{}) {
	const clear = "\r\x1b[K"
	began := time.Now()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fmt.Fprintf(p.env.Stderr, clear+"%s ... %d s", doing, int(time.Since(began).Seconds()))
		case <-done:
			if time.Since(began) >= time.Second {
				fmt.Fprint(p.env.Stderr, clear)
			}
			return
		}
	}
}
