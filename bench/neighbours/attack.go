package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// attack is the load that the user mallory puts on the service. The user mallory belongs to the
// attacked tenant.
type attack struct {
	name    string
	workers int   // number of concurrent requests
	budget  int64 // the maximum number of bytes to send
	spans   int   // the duration as a multiple of the default; 0 has the same meaning as 1
	// prepare stores the data that the attack needs. prepare returns a function, which each worker
	// calls repeatedly until the returned function returns false.
	prepare func(*attacker) (func(worker int) bool, error)
	// neighbours lists the neighbors to measure.
	neighbours func(*service) ([]neighbour, error)
}

var attacks = []attack{
	{name: "bodies", workers: 16, budget: 8 << 30, prepare: bodies(498_000), neighbours: runners},
	{name: "small-bodies", workers: 16, budget: 2 << 30, prepare: bodies(30_000), neighbours: runners},
	{name: "merges", workers: 3, budget: 1 << 20, prepare: merges, neighbours: runners},
	{name: "documents", workers: 30, budget: 1 << 30, prepare: documents, neighbours: uploaders},
	{name: "uploads", workers: 3, budget: 600 << 20, prepare: uploads, neighbours: runners},
	{name: "drop", workers: 1, budget: 1 << 20, prepare: drop, neighbours: runners},
	{name: "batches", workers: 2, budget: 64 << 20, prepare: batches, neighbours: runners},
	{name: "flood", workers: 150, budget: 64 << 20, prepare: flood, neighbours: runners},
	{name: "quota", workers: 16, budget: 64 << 20, spans: 4, prepare: quota, neighbours: runners},
	{name: "links", workers: 40, budget: 64 << 20, prepare: links, neighbours: readers},
}

func attackNames() []string {
	var names []string
	for _, a := range attacks {
		names = append(names, a.name)
	}
	return names
}

// attacksNamed returns the attacks in a comma-separated list. If the list is "", attacksNamed
// returns all attacks.
func attacksNamed(names string) ([]attack, error) {
	if names == "" {
		return attacks, nil
	}
	var list []attack
	for name := range strings.SplitSeq(names, ",") {
		i := slices.Index(attackNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("unknown attack %q; the attacks are %s", name, strings.Join(attackNames(), ", "))
		}
		list = append(list, attacks[i])
	}
	return list, nil
}

// serial makes unique names.
var serial atomic.Int64

// attacker counts the requests and bytes that an attack sends. attacker is safe for concurrent use.
type attacker struct {
	*service

	mu     sync.Mutex
	left   int64 // the number of bytes that may still be sent
	sent   int64
	counts map[string]int
}

// mallory returns the attacking user. If the argument "session" is not "", it is the session of the
// user.
func (a *attacker) mallory(session string) user { return a.user(attacked, "mallory", session) }

// take reports whether the attack may send n more bytes. If the attack may send the bytes, take
// counts them as sent.
func (a *attacker) take(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left < int64(n) {
		return false
	}
	a.left, a.sent = a.left-int64(n), a.sent+int64(n)
	return true
}

// rest is the time for which a worker of the attack waits after the service has rejected a request.
// The worker waits, because the attacker and the service share the processors of the machine. If
// the worker did not wait, the service would be slow only because the attacker uses the processors.
const rest = 100 * time.Millisecond

// note counts a request by its outcome.
func (a *attacker) note(got string) {
	a.mu.Lock()
	a.counts[got]++
	a.mu.Unlock()
	if !strings.HasPrefix(got, "ok") && !strings.HasPrefix(got, "200") {
		time.Sleep(rest)
	}
}

// reset clears the counts after the preparation of the attack.
func (a *attacker) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = 0
	clear(a.counts)
}

// begin starts the workers. The channel "over" is closed when all workers have finished. The
// function "stop" stops the workers and waits briefly for their end. The function "stop" does not
// wait longer, because some requests of an attack take long.
func (a *attacker) begin(workers int, send func(worker int) bool) (over <-chan struct{}, stop func()) {
	var running sync.WaitGroup
	var stopped atomic.Bool
	for i := range workers {
		running.Go(func() {
			for !stopped.Load() && !a.dead() && send(i) {
			}
		})
	}
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	return ended, func() {
		stopped.Store(true)
		select {
		case <-ended:
		case <-time.After(2 * time.Second):
		}
	}
}

// total returns the number of requests for each outcome, and the total size of all requests. When
// total is called, workers can still be waiting for responses.
func (a *attacker) total() (counts map[string]int, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.counts), a.sent
}
