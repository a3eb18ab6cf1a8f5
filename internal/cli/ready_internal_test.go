package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// moody is a backend. The test sets the result of Ping and the free space of the backend.
type moody struct {
	storage.Backend
	space, ping error
	pings       int
}

func (m *moody) Space() error { return m.space }

func (m *moody) Ping(context.Context) error {
	m.pings++
	return m.ping
}

func TestReadiness(t *testing.T) {
	now := time.Now()
	var log bytes.Buffer
	b := &moody{Backend: mem.New()}
	r := &readiness{backend: b, now: func() time.Time { return now }, logger: slog.New(slog.NewTextHandler(&log, nil))}
	full := fmt.Errorf("disk 7: %w", storage.ErrFull)
	for i, step := range []struct {
		after       time.Duration
		space, ping error
		want        error
		pings       int // so far
	}{
		{want: nil, pings: 1},
		{after: 9 * time.Second, ping: errors.New("no"), want: nil, pings: 1}, // reuses the result of the last test write
		{after: time.Second, ping: errors.New("disk 7 is broken"), want: errUnwritten, pings: 2},
		{ping: nil, want: errUnwritten, pings: 2},
		{after: time.Second, ping: nil, want: nil, pings: 3},
		{space: full, want: errFull, pings: 3},
		{want: nil, pings: 3},
		{after: 10 * time.Second, ping: full, want: errFull, pings: 4},
	} {
		now = now.Add(step.after)
		b.space, b.ping = step.space, step.ping
		if got := r.check(t.Context()); !errors.Is(got, step.want) || (got == nil) != (step.want == nil) {
			t.Errorf("step %d = %v; want %v", i, got, step.want)
		}
		if b.pings != step.pings {
			t.Errorf("after step %d the database was written %d times; want %d", i, b.pings, step.pings)
		}
	}
	if n := strings.Count(log.String(), "disk 7"); n != 3 {
		t.Errorf("the log contains the error of the disk %d times; want 3:\n%s", n, &log)
	}
	if n := strings.Count(log.String(), "ready again"); n != 2 {
		t.Errorf("the log contains \"ready again\" %d times; want 2:\n%s", n, &log)
	}
	if strings.Contains(errFull.Error()+errUnwritten.Error(), "disk 7") {
		t.Error("the public errors contain the error of the disk; want it only in the log")
	}
}

func TestReadinessOfMemory(t *testing.T) {
	b := mem.New()
	r := &readiness{backend: b, now: time.Now, logger: slog.New(slog.DiscardHandler)}
	if err := r.check(t.Context()); err != nil {
		t.Errorf("check = %v; want nil", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	r = &readiness{backend: b, now: time.Now, logger: slog.New(slog.DiscardHandler)}
	if err := r.check(t.Context()); !errors.Is(err, errUnwritten) {
		t.Errorf("check of a closed backend = %v; want %v", err, errUnwritten)
	}
}

func TestMinFree(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "off": -1, "1GiB": 1 << 30} {
		if got, err := (&serveFlags{minFree: text}).storage(); err != nil || got.MinFree != want {
			t.Errorf("--min-free %q = %v, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0MiB", "much", "-1", "5", "OFF"} {
		if _, err := (&serveFlags{minFree: text}).storage(); err == nil {
			t.Errorf("--min-free %q = nil; want an error", text)
		}
	}
}

func TestQuotaFlags(t *testing.T) {
	got, err := (&serveFlags{appBytes: "2GiB", userBytes: "100MiB"}).quota()
	if err != nil || got.AppBytes != 2<<30 || got.UserBytes != 100<<20 {
		t.Errorf("quota = %+v, %v", got, err)
	}
	for _, text := range []string{"x", "0", "-1", "1 apple"} {
		if _, err := (&serveFlags{appBytes: text}).quota(); err == nil {
			t.Errorf("--app-bytes %q = nil; want an error", text)
		}
	}
}
