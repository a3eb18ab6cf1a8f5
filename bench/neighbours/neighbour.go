package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// neighbour is a source of one kind of small requests, at a steady pace.
type neighbour struct {
	who, what string
	pace      time.Duration
	send      func(n int) string // sends request number n; returns "ok" or the kind of the error
}

// crowd is the number of users of each tenant. The users send runs in turn. If there were only one
// user, a run could still be writing the user's record when the next run starts, and the next run
// would have to wait.
const crowd = 20

// runners returns users of both tenants. Each runner writes a separate record.
func runners(s *service) ([]neighbour, error) {
	var list []neighbour
	for _, who := range people {
		var users []user
		for i := range crowd {
			users = append(users, s.user(who.tenant, fmt.Sprintf("%s-%d", who.name, i), ""))
		}
		list = append(list, neighbour{who: who.tenant, what: "run", pace: 40 * time.Millisecond, send: func(n int) string {
			return users[n%crowd].run("note", nil)
		}})
	}
	return list, nil
}

// people lists the neighbors.
var people = []struct{ tenant, name string }{{attacked, "ann"}, {other, "bob"}}

// uploaders returns runners, and neighbors that upload a small file. The small file is either a
// text or a PDF. The extraction of a PDF waits at the gate.
func uploaders(s *service) ([]neighbour, error) {
	list, err := runners(s)
	for _, who := range people {
		for _, file := range []struct {
			what string
			form []byte
		}{{"text", form("a.txt", "text/plain", []byte("hello"))}, {"pdf", form("a.pdf", "application/pdf", pdf([]byte("q Q ")))}} {
			list = append(list, neighbour{who: who.tenant, what: file.what, pace: 250 * time.Millisecond, send: func(int) string {
				session := fmt.Sprintf("%s-%d", who.name, serial.Add(1)) // a session can have 50 files
				got, _ := s.user(who.tenant, who.name, session).upload(session, file.form)
				return got
			}})
		}
	}
	return list, err
}

// readers returns runners, and neighbors that download a small file through a link.
func readers(s *service) ([]neighbour, error) {
	list, err := runners(s)
	for _, who := range people {
		got, link := s.user(who.tenant, who.name, who.name).upload(who.name, form("a.txt", "text/plain", []byte("hello")))
		if link == "" {
			return nil, fmt.Errorf("cannot upload a file for %s: %s", who.name, got)
		}
		path := strings.TrimPrefix(link, s.url)
		list = append(list, neighbour{who: who.tenant, what: "link", pace: 100 * time.Millisecond, send: func(int) string {
			return outcomeOf(user{url: s.url}.send(http.MethodGet, path, "", nil))
		}})
	}
	return list, err
}

// taken contains the times of a neighbor's requests, and the number of requests for each outcome.
type taken struct {
	mu    sync.Mutex
	times []time.Duration
	ends  map[string]int
}

// sample sends the requests of the neighbors. sample stops when the given time has passed, when the
// channel "over" is closed, or when the service has ended. After it stops, sample waits for the
// responses. A request is sent at its scheduled time, even if the previous request has no response
// yet. If a request waited for the previous response, a slow request would delay the requests after
// it, and the benchmark would not measure their delay.
func sample(s *service, neighbours []neighbour, span time.Duration, over <-chan struct{}) []*taken {
	list := make([]*taken, len(neighbours))
	end := time.After(span)
	stop := make(chan struct{})
	var senders sync.WaitGroup
	for i, n := range neighbours {
		list[i] = &taken{ends: map[string]int{}}
		senders.Go(func() { list[i].collect(n, stop) })
	}
	select {
	case <-end:
	case <-over:
	case <-s.ended:
	}
	close(stop)
	senders.Wait()
	return list
}

func (t *taken) collect(n neighbour, stop <-chan struct{}) {
	tick := time.NewTicker(n.pace)
	defer tick.Stop()
	var requests sync.WaitGroup
	defer requests.Wait()
	for number := 0; ; number++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		requests.Go(func() {
			began := time.Now()
			got := n.send(number)
			took := time.Since(began)
			t.mu.Lock()
			defer t.mu.Unlock()
			t.times, t.ends[got] = append(t.times, took), t.ends[got]+1
		})
	}
}

// The method "at" returns the quantile q of the times in milliseconds, or 0 if there are no times.
func (t *taken) at(q float64) float64 {
	if len(t.times) == 0 {
		return 0
	}
	slices.Sort(t.times)
	return float64(t.times[int(q*float64(len(t.times)-1))].Microseconds()) / 1000
}
