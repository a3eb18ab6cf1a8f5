package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// SetFileMemory sets the memory for files of a server. SetFileMemory also shortens the time that
// requests wait for memory.
func (s *Server) SetFileMemory(bytes int64) {
	s.files.uploads, s.files.downloads = newByteSemaphore(bytes, "files"), newByteSemaphore(bytes, "files")
	s.files.uploads.wait, s.files.downloads.wait = time.Millisecond, time.Millisecond
}

// The owner paths of the tests.
var (
	annsPath = []string{"a", "ann"}
	bobsPath = []string{"a", "bob"}
	dansPath = []string{"a", "dan"}
	cleo     = []string{"c", "cleo"}
)

// mustAcquire acquires bytes and expects an outcome: an HTTP status, or 0 for success.
func mustAcquire(t *testing.T, r *byteSemaphore, bytes int64, status int, path ...string) *reservation {
	t.Helper()
	h, err := r.acquire(t.Context(), bytes, path...)
	got := 0
	if p, ok := errors.AsType[*problem](err); ok {
		got = p.Status
	}
	if got != status || err != nil && got == 0 {
		t.Fatalf("take(%d, %q) = %v; want the status %d", bytes, path, err, status)
	}
	return h
}

// TestSemaphoreReservesSpare makes a sender, its tenant and other tenants acquire as many bytes as
// possible. Some bytes must remain for a new owner.
func TestSemaphoreReservesSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newByteSemaphore(1<<20, "bodies")
		fill := func(path ...string) (total int64) {
			for {
				h, err := r.acquire(t.Context(), 1<<10, path...)
				if err != nil {
					mustAcquire(t, r, 1<<10, http.StatusTooManyRequests, path...)
					return total
				}
				total += h.bytes
			}
		}
		if got := fill(annsPath...); got != r.size/4 {
			t.Errorf("a single user has %d of %d; want a quarter", got, r.size)
		}
		if got := fill(bobsPath...); got != r.size/8 {
			t.Errorf("the second has %d of %d; want an eighth", got, r.size)
		}
		for range 5 {
			fill("b", "eve")
			fill("d", "eve")
		}
		mustAcquire(t, r, 10<<10, 0, cleo...)
		mustAcquire(t, r, 1<<10, 0, dansPath...)
	})
}

func TestSemaphore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newByteSemaphore(100, "files")
		first := mustAcquire(t, r, 20, 0, annsPath...)
		mustAcquire(t, r, 6, http.StatusTooManyRequests, annsPath...)
		second := mustAcquire(t, r, 5, 0, annsPath...)
		mustAcquire(t, r, 12, 0, bobsPath...)
		mustAcquire(t, r, 32, http.StatusServiceUnavailable, cleo...) // more than half of the free bytes
		large := mustAcquire(t, r, 15, 0, cleo...)
		first.free()
		first.free()
		go func() { mustAcquire(t, r, 30, http.StatusTooManyRequests, annsPath...) }()
		synctest.Wait()
		mustAcquire(t, r, 10, 0, annsPath...) // a larger request of "ann" is waiting
		large.shrink(1)
		if err := large.grow(t.Context(), 10); err != nil || large.bytes != 11 {
			t.Errorf("grow = %v; the reservation has %d bytes, want 11", err, large.bytes)
		}
		second.free()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.acquire(ctx, 49, cleo...); !errors.Is(err, context.Canceled) {
			t.Errorf("acquire with a cancelled context = %v", err)
		}
		time.Sleep(time.Minute)
		large.free()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.queue.count != 0 || r.used != 22 || len(r.shares) != 3 {
			t.Errorf("used = %d, shares = %v, %d wait", r.used, r.shares, r.queue.count)
		}
	})
}

// TestSemaphoreOrder checks that bytes are granted to the owner with the fewest bytes. If several
// owners have the fewest bytes, the bytes are granted to the owner that has waited longest.
func TestSemaphoreOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newByteSemaphore(100, "files")
		held := mustAcquire(t, r, 40, 0, "z", "z")
		mustAcquire(t, r, 15, 0, annsPath...)
		got := make(chan string, 3)
		for _, path := range [][]string{annsPath, bobsPath, cleo} {
			go func() {
				if _, err := r.acquire(t.Context(), 10, path...); err == nil {
					got <- path[1]
				}
			}()
			synctest.Wait()
		}
		if len(got) != 1 || <-got != "cleo" {
			t.Fatal("cleo, whose tenant holds nothing, was not granted bytes")
		}
		held.free()
		synctest.Wait()
		if len(got) == 0 || <-got != "bob" {
			t.Error("bob, who holds nothing, was not granted bytes before ann")
		}
	})
}

// TestMinRate sends a file to two clients. One client reads nothing, and the other client reads the
// file.
func TestMinRate(t *testing.T) {
	ended := make(chan struct{}, 2)
	content := make([]byte, 64<<20) // more than the buffers of a connection can contain
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := fileRate
		if r.URL.Path == "/short" {
			p = minRate{stall: 20 * time.Millisecond}
		}
		_, _ = p.start(newDeadlineWriter(w)).copy(bytes.NewReader(content))
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
		t.Error("a client that reads nothing is not disconnected")
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

// deadlines is a response writer that records write deadlines.
type deadlines struct {
	http.ResponseWriter
	set []bool
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, !at.IsZero())
	return nil
}

// TestDeadlineWriter checks that the deadline of a response is set when the response begins, and
// that a stream has no deadline.
func TestDeadlineWriter(t *testing.T) {
	for kind, want := range map[string]int{"application/json": 2, "text/event-stream": 1} {
		d := &deadlines{ResponseWriter: httptest.NewRecorder()}
		w := newDeadlineWriter(d)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = w.Write([]byte("a"))
		_, _ = w.Write([]byte("b"))
		if len(d.set) != want || d.set[0] || want == 2 && !d.set[1] {
			t.Errorf("%s: deadlines = %v", kind, d.set)
		}
	}
}

// TestSlowReaders starts many clients that download the same file and then stop reading. Clients
// that stop reading must use little memory of the server, and must not block other downloads of
// their tenant. A client that continues to read must receive the whole file.
func TestSlowReaders(t *testing.T) {
	s := &fileHandler{downloads: newByteSemaphore(downloadBytes, "files")}
	content := make([]byte, 20<<20)
	for i := range content {
		content[i] = byte(i / 1000)
	}
	load := func(_ context.Context, offset int64) ([]byte, error) {
		return bytes.Clone(content[offset:min(offset+pieceBytes, int64(len(content)))]), nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := s.deliver(r.Context(), int64(len(content)), load, "tenant", r.URL.Path)
		if err != nil {
			WriteProblem(w, err)
			return
		}
		defer d.close()
		describeFile(w, "a.bin", "application/octet-stream", d.bytes)
		d.send(r.Context(), newDeadlineWriter(w))
	}))
	defer server.Close()
	var slow []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("GET /one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	for range 3 {
		response, err := http.Get(server.URL + "/other")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !bytes.Equal(got, content) {
			t.Errorf("another file is %s with %d bytes, %v", response.Status, len(got), err)
		}
	}
	text, err := io.ReadAll(slow[0])
	if err != nil || !bytes.HasSuffix(text, content) {
		t.Errorf("a slow reader that reads on got %d bytes, %v", len(text), err)
	}
}
