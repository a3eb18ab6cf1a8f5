package wasi_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// subscribe writes the subscription with index i to memory.
func (g *guest) subscribe(i uint32, userdata uint64, kind byte, id uint32, timeout uint64, flags uint32) {
	at := 1024 + 48*i
	g.Memory().WriteUint64Le(at, userdata)
	g.Memory().WriteByte(at+8, kind)
	g.put32(at+16, id)
	g.Memory().WriteUint64Le(at+24, timeout)
	g.put32(at+40, flags)
}

type event struct {
	userdata uint64
	errno    uint16
	kind     byte
	bytes    uint64
	flags    uint16
}

// poll calls poll_oneoff with n subscriptions and returns the events.
func (g *guest) poll(n uint32) []event {
	g.Helper()
	g.Memory().Write(4096, bytes.Repeat([]byte{0xff}, 32*int(n)))
	g.must(ok, "poll_oneoff", 1024, 4096, uint64(n), 8)
	events := make([]event, g.get32(8))
	for i := range events {
		b, _ := g.Memory().Read(4096+32*uint32(i), 32)
		if b[11] != 0 || le.Uint32(b[12:]) != 0 || le.Uint16(b[26:]) != 0 || le.Uint32(b[28:]) != 0 {
			g.Errorf("event %d = %x: the padding is not zero", i, b)
		}
		events[i] = event{le.Uint64(b), le.Uint16(b[8:]), b[10], le.Uint64(b[16:]), le.Uint16(b[24:])}
	}
	return events
}

func TestPoll(t *testing.T) {
	type sub struct {
		userdata uint64
		kind     byte
		id       uint32
		timeout  uint64
		flags    uint32
	}
	const second = uint64(time.Second)
	for _, tt := range []struct {
		name  string
		subs  []sub
		slept time.Duration
		want  []event
	}{
		{"span", []sub{{1, 0, 1, second, 0}}, time.Second, []event{{userdata: 1}}},
		{"span of realtime", []sub{{1, 0, 0, second, 0}}, time.Second, []event{{userdata: 1}}},
		{"no time", []sub{{1, 0, 1, 0, 0}}, 0, []event{{userdata: 1}}},
		{"first of two", []sub{{1, 0, 1, 3 * second, 0}, {2, 0, 1, second, 0}}, time.Second, []event{{userdata: 2}}},
		{"both", []sub{{1, 0, 1, second, 0}, {2, 0, 0, second, 0}}, time.Second, []event{{userdata: 1}, {userdata: 2}}},
		{"a time to come", []sub{{1, 0, 1, 42 + second, 1}}, time.Second, []event{{userdata: 1}}},
		{"a time to come, realtime", []sub{{1, 0, 0, 1700000001123456789, 1}}, time.Second, []event{{userdata: 1}}},
		{"a time that was", []sub{{1, 0, 1, 41, 1}}, 0, []event{{userdata: 1}}},
		{"for ever", []sub{{1, 0, 1, math.MaxUint64, 0}}, math.MaxInt64, []event{{userdata: 1}}},
		{"no such clock", []sub{{1, 0, 2, second, 0}, {2, 0, 1, second, 0}}, 0, []event{{userdata: 1, errno: einval}}},
		{"no such flag", []sub{{1, 0, 1, second, 2}}, 0, []event{{userdata: 1, errno: einval}}},
		{"input", []sub{{1, 1, 0, 0, 0}, {2, 0, 1, second, 0}}, 0, []event{{userdata: 1, kind: 1, flags: 1}}},
		{"output", []sub{{1, 2, 1, 0, 0}, {2, 2, 2, 0, 0}}, 0, []event{{1, 0, 2, wasi.MaxLine, 0}, {2, 0, 2, wasi.MaxLine, 0}}},
		{"wrong way", []sub{{1, 2, 0, 0, 0}, {2, 1, 1, 0, 0}, {3, 1, 3, 0, 0}}, 0,
			[]event{{userdata: 1, errno: ebadf, kind: 2}, {userdata: 2, errno: ebadf, kind: 1}, {userdata: 3, errno: ebadf, kind: 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, slept := fixed(), time.Duration(0)
			c.Sleep = func(_ context.Context, d time.Duration) error {
				if d <= 0 {
					t.Errorf("Sleep was called with %v", d)
				}
				slept += d
				return nil
			}
			g := start(t, proxy(onePage), c)
			for i, s := range tt.subs {
				g.subscribe(uint32(i), s.userdata, s.kind, s.id, s.timeout, s.flags)
			}
			got := g.poll(uint32(len(tt.subs)))
			if slept != tt.slept || len(got) != len(tt.want) {
				t.Fatalf("poll slept %v, events %v; want %v, %v", slept, got, tt.slept, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("event %d = %v; want %v", i, got[i], tt.want[i])
				}
			}
		})
	}
}

func TestPollUnknownKind(t *testing.T) {
	g := start(t, proxy(onePage), fixed())
	g.subscribe(0, 1, 0, 1, 0, 0)
	g.subscribe(1, 1, 3, 0, 0, 0)
	g.must(einval, "poll_oneoff", 1024, 4096, 2, 8)
}

// TestPollInPlace checks that the events may overwrite the subscriptions in memory.
func TestPollInPlace(t *testing.T) {
	g := start(t, proxy(onePage), fixed())
	for i := range uint32(4) {
		g.subscribe(i, uint64(i), 2, 1, 0, 0)
	}
	g.must(ok, "poll_oneoff", 1024, 1024, 4, 8)
	for i := range uint32(4) {
		if got := g.get64(1024 + 32*i); got != uint64(i) {
			t.Errorf("event %d has the userdata of %d", i, got)
		}
	}
}

// TestSleep uses the default clocks in simulated time.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, proxy(onePage), wasi.Config{})
		g.subscribe(0, 1, 0, 1, uint64(time.Hour), 0)
		before := time.Now()
		g.poll(1)
		if slept := time.Since(before); slept != time.Hour {
			t.Errorf("poll slept %v; want an hour", slept)
		}
		cause := errors.New("its time was over")
		ctx, cancel := context.WithTimeoutCause(g.ctx, time.Second, cause)
		defer cancel()
		g.ctx = ctx
		before = time.Now()
		if _, err := g.try("poll_oneoff", 1024, 4096, 1, 8); !errors.Is(err, cause) || g.Err() != cause {
			t.Errorf("poll past the deadline: %v, Err() = %v; want the cause", err, g.Err())
		}
		if slept := time.Since(before); slept != time.Second {
			t.Errorf("poll slept %v; want at most a second, the deadline", slept)
		}
	})
}

func TestSleepError(t *testing.T) {
	c, failed := fixed(), errors.New("no time left")
	c.Sleep = func(context.Context, time.Duration) error { return failed }
	g := start(t, proxy(onePage), c)
	g.subscribe(0, 1, 0, 1, 1, 0)
	if _, err := g.try("poll_oneoff", 1024, 4096, 1, 8); !errors.Is(err, failed) || g.Err() != failed {
		t.Errorf("poll = %v, Err() = %v; want %v", err, g.Err(), failed)
	}
}
