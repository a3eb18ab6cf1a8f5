package wasi_test

import (
	"errors"
	"io"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// channel returns at most one piece of data per Read and records writes.
type channel struct {
	pieces  []string
	written []string
	err     error
}

func (c *channel) Read(p []byte) (int, error) {
	if len(c.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; c.pieces[0] == "" {
		c.pieces = c.pieces[1:]
	}
	return n, c.err
}

func (c *channel) Write(p []byte) (int, error) {
	c.written = append(c.written, string(p))
	return len(p), c.err
}

func TestChannel(t *testing.T) {
	c := &channel{pieces: []string{"hello", "", "more"}}
	config := fixed()
	config.Channel = c
	g := start(t, proxy(onePage), config)

	g.put32(0, 64, 3, 128, 10)
	for _, want := range []struct{ first, second string }{{"hel", "lo"}, {"", ""}, {"mor", "e"}, {"", ""}} {
		g.must(ok, "fd_read", wasi.Stdin, 0, 2, 32)
		first, _ := g.Memory().Read(64, uint32(len(want.first)))
		second, _ := g.Memory().Read(128, uint32(len(want.second)))
		if n := g.get32(32); string(first) != want.first || string(second) != want.second || int(n) != len(first)+len(second) {
			t.Errorf("fd_read = %q, %q, %d bytes; want %q", first, second, n, want)
		}
	}

	g.Memory().Write(64, []byte("one"))
	g.Memory().Write(128, []byte("and two..."))
	g.must(ok, "fd_write", wasi.Stdin, 0, 2, 32)
	if n := g.get32(32); n != 13 || len(c.written) != 2 || c.written[0] != "one" || c.written[1] != "and two..." {
		t.Errorf("fd_write = %d bytes, written %q", n, c.written)
	}
	g.must(ok, "fd_fdstat_get", wasi.Stdin, 64)
	if rights, write := g.get64(72), uint64(1<<6); rights&write == 0 {
		t.Errorf("rights of the channel = %#x; want fd_write among them", rights)
	}
	g.must(ok, "fd_close", wasi.Stdin)
	g.must(ebadf, "fd_write", wasi.Stdin, 0, 2, 32)
	g.must(ebadf, "fd_read", wasi.Stdin, 0, 2, 32)
}

// TestChannelErrors checks that Stdin is not writable without a channel. TestChannelErrors also
// checks that an error of the channel stops the guest.
func TestChannelErrors(t *testing.T) {
	start(t, proxy(onePage), fixed()).must(ebadf, "fd_write", wasi.Stdin, 0, 1, 32)
	enough := errors.New("enough")
	for _, call := range []string{"fd_read", "fd_write"} {
		config := fixed()
		config.Channel = &channel{pieces: []string{"x"}, err: enough}
		g := start(t, proxy(onePage), config)
		g.put32(0, 64, 3)
		if got, err := g.try(call, wasi.Stdin, 0, 1, 32); !errors.Is(err, enough) || g.Err() != enough {
			t.Errorf("%s = %d, %v, Err() = %v; want the channel's error", call, got, err, g.Err())
		}
		g.put32(0, page-1, 2)
		g.must(efault, call, wasi.Stdin, 0, 1, 32)
	}
}
