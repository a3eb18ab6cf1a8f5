package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// SetRoom has a server with room for fewer bytes, for which nobody waits.
func (s *Server) SetRoom(bytes int64) {
	s.uploads, s.downloads = newRoom(bytes), newRoom(bytes)
	s.uploads.wait, s.downloads.wait = time.Millisecond, time.Millisecond
}

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(100)
		ann, bob, cleo := identity{tenant: "a", user: "ann"}, identity{tenant: "a", user: "bob"}, identity{tenant: "c"}
		take := func(who identity, bytes int64, want error) *holding {
			t.Helper()
			h, err := r.take(t.Context(), who, bytes)
			if err != want {
				t.Fatalf("take(%v, %d) = %v; want %v", who, bytes, err, want)
			}
			return h
		}
		first := take(ann, 20, nil)
		take(ann, 6, errFullShare)
		second := take(ann, 5, nil)
		take(bob, 25, nil)
		take(identity{tenant: "a", user: "dan"}, 1, errFullShare) // the tenant has half of it
		take(cleo, 90, errNoRoom)
		large := take(cleo, 50, nil)
		first.free()
		first.free()
		go func() {
			if _, err := r.take(t.Context(), ann, 25); err != errFullShare {
				t.Errorf("take of ann = %v; want %v", err, errFullShare)
			}
		}()
		synctest.Wait()
		take(ann, 20, nil) // while another of hers waits that is larger
		large.shrink(1)
		take(cleo, 49, nil)
		second.free()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.take(ctx, cleo, 49); !errors.Is(err, context.Canceled) {
			t.Errorf("take of who does not wait = %v", err)
		}
		time.Sleep(time.Minute)
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.waiting) != 0 || r.used != 95 || r.by[ann] != 20 || r.by[cleo] != 50 {
			t.Errorf("used = %d, by = %v, %d wait", r.used, r.by, len(r.waiting))
		}
	})
}

// TestRoomWaits gives room to who waited first.
func TestRoomWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(100)
		var held []*holding
		for _, tenant := range []string{"a", "b"} {
			h, err := r.take(t.Context(), identity{tenant: tenant}, 50)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, h)
		}
		got := make(chan string, 2)
		for _, tenant := range []string{"large", "small"} {
			bytes := map[string]int64{"large": 80, "small": 40}[tenant]
			go func() {
				h, err := r.take(t.Context(), identity{tenant: tenant}, bytes)
				if err == nil {
					got <- tenant
					h.free()
				}
			}()
			synctest.Wait()
		}
		held[0].free()
		synctest.Wait()
		if len(got) != 0 {
			t.Errorf("%s did not wait for who came before", <-got)
		}
		held[1].free()
		if a, b := <-got, <-got; a != "large" || b != "small" {
			t.Errorf("%s was before %s", a, b)
		}
	})
}

// TestPace sends a file to a client that reads nothing, and one to a client that reads.
func TestPace(t *testing.T) {
	ended := make(chan struct{}, 2)
	content := make([]byte, 64<<20) // more than the buffers of a connection
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := filePace
		if r.URL.Path == "/short" {
			p = pace{stall: 20 * time.Millisecond}
		}
		p.write(newTimed(w), content)
		ended <- struct{}{}
	}))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET /short HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the file is held for a client that reads nothing")
	}
	response, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var n int
	for buffer := make([]byte, 1<<20); err == nil; {
		var read int
		read, err = response.Body.Read(buffer)
		n += read
	}
	if n != len(content) {
		t.Errorf("a client that reads got %d bytes, %v", n, err)
	}
}

// deadlines is a connection that notes the deadlines for writing.
type deadlines struct {
	http.ResponseWriter
	set []bool
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, !at.IsZero())
	return nil
}

// TestTimed has answers with a deadline from when they begin, and streams without.
func TestTimed(t *testing.T) {
	for kind, want := range map[string]int{"application/json": 2, "text/event-stream": 1} {
		d := &deadlines{ResponseWriter: httptest.NewRecorder()}
		w := newTimed(d)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = w.Write([]byte("a"))
		_, _ = w.Write([]byte("b"))
		if len(d.set) != want || d.set[0] || want == 2 && !d.set[1] {
			t.Errorf("%s: deadlines = %v", kind, d.set)
		}
	}
}
