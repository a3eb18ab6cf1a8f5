package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// fakeDisk is a fake disk with a fake clock.
type fakeDisk struct {
	free, total  int64
	err          error
	measurements int
	now          time.Time
}

func (d *fakeDisk) install(b *Backend) {
	b.space.now = func() time.Time { return d.now }
	b.space.disk = func(string) (int64, int64, error) {
		d.measurements++
		return d.free, d.total, d.err
	}
}

func TestSpace(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	for _, test := range []struct {
		name              string
		minimum           int64 // Options.MinFree
		free, total       int64
		unknown, wantFull bool
	}{
		{name: "default", free: 256 * mib, total: 100 * gib},
		{name: "under the default", free: 255 * mib, total: 100 * gib, wantFull: true},
		{name: "small disk", free: 10 * mib, total: 40 * mib},
		{name: "under a quarter", free: 10*mib - 64<<10, total: 40 * mib, wantFull: true},
		{name: "own floor", minimum: gib, free: gib, total: 100 * gib},
		{name: "under the own floor", minimum: gib, free: 900 * mib, total: 100 * gib, wantFull: true},
		{name: "no floor", minimum: -1, free: 0, total: 100 * gib},
		{name: "unknown", unknown: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := openTest(t)
			b.space.minFree = test.minimum
			d := &fakeDisk{free: test.free, total: test.total}
			if test.unknown {
				d.err = errors.ErrUnsupported
			}
			d.install(b)
			if err := storage.Space(b); errors.Is(err, storage.ErrFull) != test.wantFull || (err != nil) != test.wantFull {
				t.Errorf("Space() = %v; want ErrFull: %v", err, test.wantFull)
			}
		})
	}
}

func TestSpaceIsCached(t *testing.T) {
	b := openTest(t)
	d := &fakeDisk{free: 0, total: 1 << 40}
	d.install(b)
	for range 3 {
		if err := b.Space(); !errors.Is(err, storage.ErrFull) {
			t.Fatalf("Space() = %v; want ErrFull", err)
		}
	}
	if d.free = 1 << 40; d.measurements != 1 {
		t.Errorf("three calls measured %d times; want 1", d.measurements)
	}
	d.now = d.now.Add(spaceAge)
	if err := b.Space(); err != nil {
		t.Errorf("Space() a second later = %v; want nil", err)
	}
}

// TestFreePagesAreSpace removes records. The pages of the removed records must count as free space,
// although the file does not shrink.
func TestFreePagesAreSpace(t *testing.T) {
	ctx := context.Background()
	b := openTest(t)
	b.space.minFree = 64 << 20
	d := &fakeDisk{free: 1 << 20, total: 1 << 40}
	d.install(b)
	const n = 25
	for i := range n {
		k := testKey(fmt.Sprint("large", i))
		err := b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: k, Revision: 1, Content: make([]byte, storage.MaxContentBytes)}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Space(); !errors.Is(err, storage.ErrFull) {
		t.Fatalf("Space() = %v; want ErrFull", err)
	}
	if _, err := b.DeleteWhere(ctx, storage.Selector{Prefix: groupOf(testKey("s"))}, n); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(spaceAge)
	if err := b.Space(); err != nil {
		t.Errorf("Space() after 100 MiB were removed = %v; want nil", err)
	}
}

// TestDiskFull checks that a commit on a full disk returns ErrFull.
func TestDiskFull(t *testing.T) {
	b := openTest(t)
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		failed := b.outcome(1<<30, cause)
		if full := cause != syscall.EIO; errors.Is(failed, storage.ErrFull) != full || !errors.Is(failed, cause) {
			t.Errorf("a commit that fails with %v = %v; want ErrFull: %v", cause, failed, full)
		}
	}
}

// TestRunsOfFreePages checks that scattered free pages do not count as free space, because a large
// write needs consecutive pages.
func TestRunsOfFreePages(t *testing.T) {
	const pageSize, long = 4096, usefulRun / 4096
	ids := func(runs ...[2]uint64) io.Reader {
		var b []byte
		for _, r := range runs {
			for id := r[0]; id < r[0]+r[1]; id++ {
				b = order.AppendUint64(b, id)
			}
		}
		return bytes.NewReader(b)
	}
	for _, test := range []struct {
		name string
		ids  io.Reader
		want int64
	}{
		{"none", ids(), 0},
		{"short", ids([2]uint64{5, long - 1}), 0},
		{"long", ids([2]uint64{5, long}), usefulRun},
		{"short ones in a row", ids([2]uint64{5, long - 1}, [2]uint64{long + 5, long - 1}), 0},
		{"long among short ones", ids([2]uint64{2, 1}, [2]uint64{5, long + 1}, [2]uint64{3 * long, 2}), usefulRun + pageSize},
		{"two", ids([2]uint64{2, long}, [2]uint64{2 * long, long}), 2 * usefulRun},
	} {
		if got, err := runsOf(test.ids, pageSize); got != test.want || err != nil {
			t.Errorf("%s = %d, %v; want %d", test.name, got, err, test.want)
		}
	}
}

func TestPing(t *testing.T) {
	b := openTest(t)
	if err := b.Ping(context.Background()); err != nil {
		t.Fatalf("Ping() = %v; want nil", err)
	}
	real := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		return real(func(tx *bbolt.Tx) error { return errors.Join(fn(tx), syscall.EROFS) })
	}
	if err := b.Ping(context.Background()); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("Ping() of a file that cannot be written = %v", err)
	}
	b.update = real
	if err := b.Ping(context.Background()); err != nil {
		t.Errorf("Ping() after that = %v; want nil", err)
	}
}

func TestDiskSpace(t *testing.T) {
	free, total, err := diskSpace(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("not supported on this system")
	}
	if err != nil || free < 0 || total < free || total == 0 {
		t.Errorf("diskSpace() = %d, %d, %v", free, total, err)
	}
	if _, _, err := diskSpace(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("diskSpace of a missing folder succeeded")
	}
}
