package connections_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/toolrun/toolrun/internal/connections"
)

// patience is the maximum time for which a test waits for an event.
const patience = 20 * time.Second

// bounded starts a server with a table. The server admits requests with credentials. The server
// replies to requests for /wait only after a call to leave.
func bounded(t *testing.T, limits connections.Limits, secured bool) (s *httptest.Server, table *connections.Table, busy chan struct{}, leave func()) {
	t.Helper()
	left, stop := context.WithCancel(t.Context())
	busy = make(chan struct{}, 100)
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			connections.Admit(r.Context())
		}
		if r.URL.Path == "/wait" {
			busy <- struct{}{}
			<-left.Done()
		}
	}))
	table = connections.New(limits)
	s.Listener = table.Listener(s.Listener)
	table.Watch(s.Config)
	s.EnableHTTP2, s.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	if secured {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		stop()
		s.Close()
		if n := table.Counts().Open; n != 0 {
			t.Errorf("a stopped server has %d connections; want none", n)
		}
	})
	return s, table, busy, stop
}

// dial connects to the server and sends a text.
func dial(t *testing.T, s *httptest.Server, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err == nil {
		_, err = io.WriteString(c, text)
	}
	if err == nil {
		err = c.SetDeadline(time.Now().Add(patience))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ended waits for the server to close a connection, and reports whether the server closed it.
func ended(c net.Conn) bool {
	_, err := io.Copy(io.Discard, c)
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

// until waits until the counts of the table satisfy a condition.
func until(t *testing.T, table *connections.Table, good func(connections.Counts) bool) {
	t.Helper()
	for begin := time.Now(); !good(table.Counts()); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("the table has %+v", table.Counts())
		}
	}
}

const (
	half    = "GET / HTTP/1.1\r\nHost: a\r\n"
	unknown = half + "\r\n"
	known   = half + "Authorization: me\r\n\r\n"
)

// TestStrangersLeaveRoom opens strangers of each kind, one after another. The first strangers must
// be closed, and a client must be served.
func TestStrangersLeaveRoom(t *testing.T) {
	for name, attack := range map[string]struct {
		text    string
		secured bool
	}{
		"nothing": {"", false}, "half a head": {half, false}, "no credentials": {unknown, false},
		"no handshake": {"", true}, "half a handshake": {"\x16\x03\x01\x02\x00\x01", true},
		"no body": {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, table, _, _ := bounded(t, connections.Limits{Connections: 16, Strangers: 4}, attack.secured)
			var first net.Conn
			for i := range 20 {
				if c := dial(t, s, attack.text); i == 0 {
					first = c
				}
			}
			until(t, table, func(c connections.Counts) bool { return c.Closed == 16 && c.Open == 4 })
			if !ended(first) {
				t.Error("the first stranger is still connected; want it closed")
			}
			client := s.Client()
			client.Timeout = patience
			response, err := client.Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
		})
	}
}

// TestKnownStay checks that known connections stay open, during a request and between requests,
// while strangers arrive.
func TestKnownStay(t *testing.T) {
	s, table, busy, leave := bounded(t, connections.Limits{Connections: 16, Strangers: 4}, false)
	atWork := dial(t, s, "GET /wait HTTP/1.1\r\nHost: a\r\nAuthorization: me\r\n\r\n")
	<-busy
	idle := dial(t, s, known)
	until(t, table, func(c connections.Counts) bool { return c.Idle == 1 })
	for range 20 {
		dial(t, s, half)
	}
	until(t, table, func(c connections.Counts) bool { return c.Closed == 16 })
	leave()
	for _, c := range []net.Conn{atWork, idle} {
		if _, err := io.WriteString(c, half+"Connection: close\r\n\r\n"); err != nil {
			t.Error(err)
		}
		if text, err := io.ReadAll(c); err != nil || len(text) == 0 {
			t.Errorf("a known client got %q, %v", text, err)
		}
	}
}

// TestIdleMakeRoom fills a table first with idle connections, and then with busy connections. A new
// connection must replace an idle connection, but must wait for a busy connection.
func TestIdleMakeRoom(t *testing.T) {
	s, table, busy, leave := bounded(t, connections.Limits{Connections: 8, Strangers: 2}, false)
	oldest := dial(t, s, known)
	until(t, table, func(c connections.Counts) bool { return c.Idle == 1 })
	for n := 2; n <= 8; n++ {
		dial(t, s, known)
		until(t, table, func(c connections.Counts) bool { return c.Idle == n })
	}
	dial(t, s, known)
	if !ended(oldest) {
		t.Error("the oldest idle connection is still open; want it closed")
	}
	for range 8 {
		dial(t, s, "GET /wait HTTP/1.1\r\nHost: a\r\nAuthorization: me\r\n\r\n")
		<-busy
	}
	until(t, table, func(c connections.Counts) bool { return c.Open == 8 && c.Idle == 0 })
	late := dial(t, s, half+"Authorization: me\r\nConnection: close\r\n\r\n")
	leave()
	if text, err := io.ReadAll(late); err != nil || len(text) == 0 {
		t.Errorf("the waiting client got %q, %v", text, err)
	}
}

// TestHTTP2 checks that a connection with several streams becomes known when one stream is
// admitted.
func TestHTTP2(t *testing.T) {
	s, table, _, _ := bounded(t, connections.Limits{Connections: 8}, true)
	client := s.Client()
	for _, credentials := range []string{"", "me"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", credentials)
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.ProtoMajor != 2 {
			t.Fatalf("the protocol of the response is %s", response.Proto)
		}
		until(t, table, func(c connections.Counts) bool { return c.Open == 1 && (c.Idle == 1) == (credentials != "") })
	}
}

// TestAcceptEnds closes a listener while new connections wait.
func TestAcceptEnds(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	table := connections.New(connections.Limits{Connections: 4})
	l := table.Listener(inner)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		connections.Admit(r.Context())
		<-r.Context().Done()
	})}
	table.Watch(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	for i := range 6 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, unknown); err != nil {
			t.Fatal(err)
		}
		// The connections are opened one after another, because a new connection would replace a
		// stranger that is not admitted yet.
		until(t, table, func(c connections.Counts) bool { return c.Open == min(i+1, 4) && c.Strangers == 0 })
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve = %v", err)
	}
	until(t, table, func(c connections.Counts) bool { return c.Open == 0 })
}

// TestLimits tests the defaults and the bounds.
func TestLimits(t *testing.T) {
	for _, one := range []struct{ provided, want connections.Limits }{
		{connections.Limits{}, connections.Limits{Connections: 1024, Strangers: 512}},
		{connections.Limits{Connections: 55}, connections.Limits{Connections: 55, Strangers: 27}},
		{connections.Limits{Connections: 8192}, connections.Limits{Connections: 8192, Strangers: 1024}},
		{connections.Limits{Connections: 1, Strangers: 9}, connections.Limits{Connections: 4, Strangers: 2}},
	} {
		if got := connections.New(one.provided).Limits(); got != one.want {
			t.Errorf("New(%+v) has %+v; want %+v", one.provided, got, one.want)
		}
	}
}
