package wasi_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// These are the error numbers that the tests expect, with their POSIX names.
const (
	ok, ebadf, efault, einval, eio, enodev        = 0, 8, 21, 28, 29, 43
	enotdir, enotsock, enotsup, espipe            = 54, 57, 58, 70
	page                                          = 65536
	far                                    uint64 = math.MaxUint32
)

// fixed returns a Config with deterministic values.
func fixed() wasi.Config {
	return wasi.Config{
		Args:     []string{"tool", "", "größe"},
		Environ:  []string{"REGION=eu", "EMPTY="},
		Walltime: func() time.Time { return time.Unix(1700000000, 123456789) },
		Nanotime: func() int64 { return 42 },
		Sleep:    func(context.Context, time.Duration) error { return nil },
		Random:   bytes.NewReader(bytes.Repeat([]byte{0xa5}, 8)),
	}
}

// TestAnswers calls functions with invalid arguments. TestAnswers also calls functions that always
// return the same error.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []uint64
		want int
	}{
		{"args_get", []uint64{page - 11, 0}, efault},
		{"args_get", []uint64{0, page - 13}, efault},
		{"args_get", []uint64{0, page - 14}, ok},
		{"args_get", []uint64{far, far}, efault},
		{"args_sizes_get", []uint64{0, page - 3}, efault},
		{"args_sizes_get", []uint64{page - 3, 0}, efault},
		{"args_sizes_get", []uint64{page - 4, page - 4}, ok},
		{"environ_get", []uint64{0, far}, efault},
		{"environ_sizes_get", []uint64{far, 0}, efault},

		{"clock_res_get", []uint64{0, page - 8}, ok},
		{"clock_res_get", []uint64{1, page - 7}, efault},
		{"clock_res_get", []uint64{2, 0}, einval}, // the CPU time clock of the process
		{"clock_res_get", []uint64{3, 0}, einval}, // the CPU time clock of the thread
		{"clock_time_get", []uint64{0, 0, page - 7}, efault},
		{"clock_time_get", []uint64{1, math.MaxUint64, page - 8}, ok},
		{"clock_time_get", []uint64{2, 0, 0}, einval},
		{"clock_time_get", []uint64{far, 0, far}, einval},

		{"fd_advise", []uint64{1, 0, 0, 0}, espipe},
		{"fd_allocate", []uint64{1, 0, 1}, enodev},
		{"fd_datasync", []uint64{1}, einval},
		{"fd_sync", []uint64{2}, einval},
		{"fd_sync", []uint64{3}, ebadf},
		{"fd_close", []uint64{3}, ebadf},
		{"fd_close", []uint64{far}, ebadf},
		{"fd_fdstat_get", []uint64{0, page - 24}, ok},
		{"fd_fdstat_get", []uint64{0, page - 23}, efault},
		{"fd_fdstat_get", []uint64{3, far}, ebadf},
		{"fd_fdstat_set_flags", []uint64{1, 0x1f}, ok},
		{"fd_fdstat_set_flags", []uint64{1, 0x20}, einval},
		{"fd_fdstat_set_flags", []uint64{1, 1 << 16}, einval},
		{"fd_fdstat_set_flags", []uint64{3, 0}, ebadf},
		{"fd_fdstat_set_rights", []uint64{1, 0, 0}, enotsup},
		{"fd_filestat_get", []uint64{2, page - 64}, ok},
		{"fd_filestat_get", []uint64{2, page - 63}, efault},
		{"fd_filestat_get", []uint64{4, 0}, ebadf},
		{"fd_filestat_set_size", []uint64{1, 0}, einval},
		{"fd_filestat_set_times", []uint64{1, 0, 0, 0}, enotsup},
		{"fd_pread", []uint64{0, 0, 0, 0, 0}, espipe},
		{"fd_pwrite", []uint64{1, 0, 0, 0, 0}, espipe},
		{"fd_prestat_get", []uint64{0, 0}, ebadf},
		{"fd_prestat_get", []uint64{3, 0}, ebadf}, // a guest looks here for its first directory
		{"fd_prestat_dir_name", []uint64{3, 0, 8}, ebadf},
		{"fd_readdir", []uint64{0, 0, 0, 0, 0}, enotdir},
		{"fd_readdir", []uint64{3, 0, 0, 0, 0}, ebadf},
		{"fd_renumber", []uint64{1, 2}, enotsup},
		{"fd_renumber", []uint64{1, 3}, ebadf},
		{"fd_renumber", []uint64{3, 1}, ebadf},
		{"fd_seek", []uint64{1, 0, 1, 0}, espipe},
		{"fd_seek", []uint64{3, 0, 1, 0}, ebadf},
		{"fd_tell", []uint64{1, 0}, espipe},

		{"fd_read", []uint64{1, 0, 0, 0}, ebadf},
		{"fd_read", []uint64{3, 0, 0, 0}, ebadf},
		{"fd_read", []uint64{0, 0, 1025, 0}, einval},
		{"fd_read", []uint64{0, page - 7, 1, 0}, efault},
		{"fd_read", []uint64{0, 0, 1, page - 3}, efault},
		{"fd_read", []uint64{0, 0, 1, page - 4}, ok},
		{"fd_write", []uint64{0, 0, 0, 0}, ebadf},
		{"fd_write", []uint64{3, 0, 0, 0}, ebadf},
		{"fd_write", []uint64{1, 0, far, 0}, einval},
		{"fd_write", []uint64{1, page - 8, 2, 0}, efault},
		{"fd_write", []uint64{1, far, 1, 0}, efault},
		{"fd_write", []uint64{1, 0, 1, page - 3}, efault},
		{"fd_write", []uint64{1, 0, 0, page - 4}, ok},

		{"path_create_directory", []uint64{3, 0, 1}, ebadf},
		{"path_filestat_get", []uint64{3, 0, 0, 1, 0}, ebadf},
		{"path_filestat_set_times", []uint64{3, 0, 0, 1, 0, 0, 0}, ebadf},
		{"path_link", []uint64{3, 0, 0, 1, 3, 0, 1}, ebadf},
		{"path_open", []uint64{3, 0, 0, 1, 0, 0, 0, 0, 0}, ebadf},
		{"path_open", []uint64{far, 0, 0, 1, 0, 0, 0, 0, 0}, ebadf}, // the Go runtime makes this call
		{"path_open", []uint64{0, 0, 0, 1, 0, 0, 0, 0, 0}, enotdir},
		{"path_readlink", []uint64{3, 0, 1, 0, 1, 0}, ebadf},
		{"path_remove_directory", []uint64{3, 0, 1}, ebadf},
		{"path_rename", []uint64{3, 0, 1, 3, 0, 1}, ebadf},
		{"path_symlink", []uint64{0, 1, 3, 0, 1}, ebadf},
		{"path_symlink", []uint64{9, 1, 2, 0, 1}, enotdir},
		{"path_unlink_file", []uint64{3, 0, 1}, ebadf},

		{"poll_oneoff", []uint64{0, 0, 0, 0}, einval},
		{"poll_oneoff", []uint64{0, 0, 1025, 0}, einval},
		{"poll_oneoff", []uint64{0, 0, 0x0555_5556, 0}, einval}, // multiplied by 48, this number overflows
		{"poll_oneoff", []uint64{page - 47, 0, 1, 0}, efault},
		{"poll_oneoff", []uint64{0, page - 31, 1, 0}, efault},
		{"poll_oneoff", []uint64{0, 0, 1, page - 3}, efault},
		{"poll_oneoff", []uint64{far, far, 1, far}, efault},
		{"proc_raise", []uint64{9}, enotsup},
		{"sched_yield", nil, ok},
		{"random_get", []uint64{page, 1}, efault},
		{"random_get", []uint64{1, far}, efault},
		{"random_get", []uint64{0, 9}, eio}, // the random source of fixed has only 8 bytes
		{"random_get", []uint64{page, 0}, ok},

		{"sock_accept", []uint64{3, 0, 0}, ebadf},
		{"sock_accept", []uint64{0, 0, 0}, enotsock},
		{"sock_recv", []uint64{0, 0, 0, 0, 0, 0}, enotsock},
		{"sock_send", []uint64{3, 0, 0, 0, 0}, ebadf},
		{"sock_shutdown", []uint64{1, 0}, enotsock},
	} {
		start(t, proxy(onePage), fixed()).must(tt.want, tt.name, tt.args...)
	}
}

func TestStrings(t *testing.T) {
	g := start(t, proxy(onePage), fixed())
	g.must(ok, "args_sizes_get", 0, 4)
	if n, size := g.get32(0), g.get32(4); n != 3 || size != 14 {
		t.Errorf("args_sizes_get = %d, %d; want 3, 14", n, size)
	}
	g.must(ok, "args_get", 100, 200)
	if a, b, c := g.get32(100), g.get32(104), g.get32(108); a != 200 || b != 205 || c != 206 {
		t.Errorf("argv = %d, %d, %d; want 200, 205, 206", a, b, c)
	}
	if got, _ := g.Memory().Read(200, 15); string(got) != "tool\x00\x00größe\x00\x00" {
		t.Errorf("args_get wrote %q", got)
	}
	g.must(ok, "environ_sizes_get", 0, 4)
	if n, size := g.get32(0), g.get32(4); n != 2 || size != 17 {
		t.Errorf("environ_sizes_get = %d, %d; want 2, 17", n, size)
	}
	g.must(ok, "environ_get", 100, 200)
	if got, _ := g.Memory().Read(200, 17); string(got) != "REGION=eu\x00EMPTY=\x00" {
		t.Errorf("environ_get wrote %q", got)
	}
}

func TestZeroConfig(t *testing.T) {
	g := start(t, proxy(onePage), wasi.Config{})
	g.put32(0, 1, 1)
	g.must(ok, "args_sizes_get", 0, 4)
	if g.get64(0) != 0 {
		t.Error("argc is not 0 in a guest without arguments")
	}
	g.must(ok, "environ_sizes_get", 0, 4)
	g.must(ok, "environ_get", page, page)
	before := time.Now().UnixNano()
	g.must(ok, "clock_time_get", 0, 0, 8)
	if now := int64(g.get64(8)); now < before || now > time.Now().UnixNano() {
		t.Errorf("the time is %d; want the real one", now)
	}
	g.must(ok, "clock_time_get", 1, 0, 8)
	first := g.get64(8)
	g.must(ok, "clock_time_get", 1, 0, 8)
	if second := g.get64(8); first == 0 || second < first {
		t.Errorf("the monotonic clock returned %d, then %d", first, second)
	}
	g.must(ok, "random_get", 64, 32)
	if got, _ := g.Memory().Read(64, 32); bytes.Equal(got, make([]byte, 32)) {
		t.Error("random_get wrote nothing")
	}
	g.put32(0, 16, 5)
	g.must(ok, "fd_write", 1, 0, 1, 12)
	if err := g.Flush(); err != nil || g.get32(12) != 5 {
		t.Errorf("fd_write without a log = %v, %d bytes", err, g.get32(12))
	}
}

func TestClocks(t *testing.T) {
	c := fixed()
	g := start(t, proxy(onePage), c)
	g.must(ok, "clock_time_get", 0, 0, 8)
	if got := g.get64(8); got != 1700000000123456789 {
		t.Errorf("realtime = %d", got)
	}
	g.must(ok, "clock_time_get", 1, 0, 8)
	if got := g.get64(8); got != 42 {
		t.Errorf("monotonic = %d; want 42", got)
	}
	c.Walltime = func() time.Time { return time.Unix(-5, 0) }
	g = start(t, proxy(onePage), c)
	g.put32(8, 7, 7)
	g.must(ok, "clock_time_get", 0, 0, 8)
	if got := g.get64(8); got != 0 {
		t.Errorf("realtime before 1970 = %d; want 0", got)
	}
}

// TestWalltimeSeesMemory checks that Walltime can read the guest's memory before the time is
// written.
func TestWalltimeSeesMemory(t *testing.T) {
	var g *guest
	c, calls, seen := fixed(), 0, uint64(0)
	c.Walltime = func() time.Time {
		calls++
		seen = g.get64(8)
		return time.Unix(1, 0)
	}
	g = start(t, proxy(onePage), c)
	for range 3 {
		g.put32(8, 0x600d, 0)
		g.must(ok, "clock_time_get", 0, math.MaxUint64, 8)
	}
	if calls != 3 || seen != 0x600d || g.get64(8) != 1e9 {
		t.Errorf("%d calls read %#x, then %d; want 3, 0x600d, 1e9", calls, seen, g.get64(8))
	}
}

func TestRandom(t *testing.T) {
	g := start(t, proxy(onePage), fixed())
	g.must(ok, "random_get", 10, 6)
	if got, _ := g.Memory().Read(9, 8); !bytes.Equal(got, []byte{0, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0}) {
		t.Errorf("random_get wrote %x", got)
	}
}

func TestDescriptors(t *testing.T) {
	g := start(t, proxy(onePage), fixed())
	g.Memory().Write(0, bytes.Repeat([]byte{0xff}, 64))
	for fd, rights := range []uint64{0x820000a, 0x8200048, 0x8200048} {
		g.must(ok, "fd_fdstat_set_flags", uint64(fd), 4)
		g.must(ok, "fd_fdstat_get", uint64(fd), 0)
		if head, base, inheriting := g.get64(0), g.get64(8), g.get64(16); head != 0x4_0002 || base != rights || inheriting != 0 {
			t.Errorf("fdstat of %d = %#x, %#x, %#x; want 0x40002, %#x, 0", fd, head, base, inheriting, rights)
		}
		g.must(ok, "fd_filestat_get", uint64(fd), 0)
		if ino, kind, links := g.get64(8), g.get64(16), g.get64(24); ino != uint64(fd) || kind != 2 || links != 1 {
			t.Errorf("filestat of %d: inode %d, type %d, links %d", fd, ino, kind, links)
		}
		if size, modified := g.get64(32), g.get64(48); size != 0 || modified != 0 {
			t.Errorf("filestat of %d: %d bytes, modified %d; want none, never", fd, size, modified)
		}
		g.must(ok, "fd_close", uint64(fd))
		for name, args := range map[string][]uint64{
			"fd_close": nil, "fd_fdstat_get": {0}, "fd_filestat_get": {0}, "fd_fdstat_set_flags": {0}, "fd_seek": {0, 0, 0},
			"fd_read": {0, 0, 0}, "fd_write": {0, 0, 0}, "fd_sync": nil, "sock_shutdown": {0}, "fd_renumber": {2},
		} {
			g.must(ebadf, name, append([]uint64{uint64(fd)}, args...)...)
		}
	}
	start(t, proxy(onePage), fixed()).must(ok, "fd_fdstat_get", 1, 0) // another run has separate descriptors
}

func TestRead(t *testing.T) {
	g := start(t, proxy(onePage), fixed())
	g.put32(0, 64, 16, 100, 200)
	g.put32(32, 0xffff)
	g.must(ok, "fd_read", 0, 0, 2, 32)
	if n := g.get32(32); n != 0 {
		t.Errorf("fd_read read %d bytes of an empty input", n)
	}
	g.put32(0, 64, 16, page-10, 11)
	g.must(efault, "fd_read", 0, 0, 2, 32)
}

// TestEndedContext checks that a guest that calls functions in a loop is stopped when its context
// has ended.
func TestEndedContext(t *testing.T) {
	cause := errors.New("given up")
	for name, args := range map[string][]uint64{
		"sched_yield": nil, "random_get": {0, 1}, "poll_oneoff": {1024, 4096, 1, 8}, "fd_write": {1, 0, 1, 16},
	} {
		c := fixed()
		c.Log = func(int, []byte) error { return nil }
		g := start(t, proxy(onePage), c)
		g.put32(0, 32, 1)
		g.Memory().WriteByte(32, '\n')
		g.must(ok, name, args...)
		ctx, cancel := context.WithCancelCause(g.ctx)
		cancel(cause)
		g.ctx = ctx
		if got, err := g.try(name, args...); !errors.Is(err, cause) || g.Err() != cause {
			t.Errorf("%s = %d, %v, Err() = %v; want the cause", name, got, err, g.Err())
		}
	}
}

func TestExit(t *testing.T) {
	for _, tt := range []struct{ code, want uint32 }{
		{0, 0}, {1, 1}, {255, 255}, {256, 256}, {math.MaxInt32, math.MaxInt32},
		{sys.ExitCodeContextCanceled, 255}, {sys.ExitCodeDeadlineExceeded, 255},
	} {
		g := start(t, proxy(onePage), fixed())
		_, err := g.try("proc_exit", uint64(tt.code))
		var exit *sys.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != tt.want {
			t.Errorf("proc_exit(%#x) = %v; want exit code %d", tt.code, err, tt.want)
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("proc_exit(%#x) looks like the end of a context: %v", tt.code, err)
		}
		if g.IsClosed() || g.Err() != nil {
			t.Errorf("after proc_exit(%#x) the instance is closed: %v, Err() = %v", tt.code, g.IsClosed(), g.Err())
		}
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		c    wasi.Config
		want string
	}{
		{wasi.Config{Args: []string{"a", "b\x00c"}}, "argument 1 contains a NUL byte"},
		{wasi.Config{Environ: []string{"A=1", "B", "=C"}}, "environment variable 1 does not have the form NAME=value\nenvironment variable 2 does not have the form NAME=value"},
		{wasi.Config{Args: []string{string(make([]byte, 1<<20))}}, "argument 0 contains a NUL byte\nthe arguments have 1048577 bytes; the limit is 1048576"},
		{wasi.Config{Args: []string{"\x00"}, Environ: []string{"A=\x00"}}, "argument 0 contains a NUL byte\nenvironment variable 0 contains a NUL byte"},
	} {
		if s, err := wasi.New(tt.c); err == nil || err.Error() != tt.want || s != nil {
			t.Errorf("New = %v, %v; want %q", s, err, tt.want)
		}
	}
	if _, err := wasi.New(fixed()); err != nil {
		t.Error(err)
	}
}
