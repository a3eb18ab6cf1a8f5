package bolt

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

var _ storage.Spacer = (*Backend)(nil)

const (
	// defaultMinFree is the default value of Options.MinFree on disks of at least 1 GiB.
	defaultMinFree = 256 << 20
	// usefulRun is the minimum size in bytes of a run that counts as free space. A run is a
	// sequence of consecutive free pages. Shorter runs can be useless, because bbolt writes a whole
	// leaf page for each change. A leaf page with up to four entries is not split and can be large.
	// The write of a small record can therefore need 64 KiB of consecutive pages. For example, an
	// erasure begins with the write of a small record. The list of free pages also needs
	// consecutive pages.
	usefulRun = 1 << 20
	// spaceAge is the maximum age of the cached result of Space.
	spaceAge = time.Second
)

// space contains the cached result of Space, and the settings for the measurement.
type space struct {
	minFree int64 // Options.MinFree or its default
	now     func() time.Time
	// disk returns the number of bytes on the disk that are free for this process, and the size of
	// the disk.
	disk func(dir string) (free, total int64, err error)

	mu    sync.Mutex
	until time.Time
	err   error
}

// Space implements storage.Spacer. Space adds the free bytes on the disk and the free bytes in long
// runs of free pages. Space returns an error if the sum is less than Options.MinFree. Free pages of
// the file count, because the file never shrinks and later writes reuse the free pages.
func (b *Backend) Space() error {
	s := &b.space
	if s.minFree < 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); !now.Before(s.until) {
		s.until, s.err = now.Add(spaceAge), b.measure()
	}
	return s.err
}

// measure measures the free space. If the measurement fails, the result is nil, which means enough
// free space. If the space is not enough, the next write fails anyway.
func (b *Backend) measure() error {
	free, total, err := b.space.disk(filepath.Dir(b.fd.Name()))
	if err != nil {
		return nil
	}
	minimum := b.space.minFree
	if minimum == 0 {
		minimum = min(defaultMinFree, total/4)
	}
	if free >= minimum {
		b.free.wanted.Store(false)
		return nil
	}
	b.free.want(func() { _ = b.Ping(context.Background()) })
	free += b.freeBytes()
	if free < minimum {
		return fmt.Errorf("%w: %d bytes are free; the minimum is %d", storage.ErrFull, free, minimum)
	}
	return nil
}

// freeBytes returns the total size of the long runs of free pages in the file. The result is 0 if
// the list of free pages cannot be read.
func (b *Backend) freeBytes() (free int64) {
	// While a read transaction is open, bbolt does not reuse pages that newer transactions free.
	// The free list of the newest header therefore stays intact while freeBytes reads the list.
	// Because bbolt has no function that returns the free list, freeBytes reads the pages of the
	// list itself.
	_ = b.read(func(*bbolt.Tx) error {
		info, err := b.fd.Stat()
		if err != nil {
			return err
		}
		h, _, err := readHeader(b.fd, info.Size())
		if err != nil || h.freelist == noFreelist {
			return err
		}
		var head [pageHeader + 8]byte
		if _, err := b.fd.ReadAt(head[:], int64(h.freelist)*h.pageSize); err != nil {
			return err
		}
		n, at := uint64(order.Uint16(head[10:])), int64(h.freelist)*h.pageSize+pageHeader
		if n == 0xFFFF { // the list begins with the number of ids
			n, at = order.Uint64(head[pageHeader:]), at+8
		}
		ids := bufio.NewReaderSize(io.NewSectionReader(b.fd, at, 8*int64(min(n, h.next))), 64<<10)
		free, err = runsOf(ids, h.pageSize)
		return err
	})
	return free
}

// runsOf reads the sorted ids of free pages, and returns the total size of the long runs in bytes.
func runsOf(ids io.Reader, pageSize int64) (total int64, err error) {
	var next uint64
	var run int64 // in bytes
	end := func() {
		if run >= usefulRun {
			total += run
		}
		run = 0
	}
	for {
		var buf [8]byte
		if _, err := io.ReadFull(ids, buf[:]); err == io.EOF {
			end()
			return total, nil
		} else if err != nil {
			return 0, err
		}
		id := order.Uint64(buf[:])
		if id != next {
			end()
		}
		run += pageSize
		next = id + 1
	}
}
