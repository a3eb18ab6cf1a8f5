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
	// defaultMinFree is the default of Options.MinFree, unless a quarter of the disk is less.
	defaultMinFree = 256 << 20
	// usefulRun is the minimum size of a run of consecutive free pages that counts as free space.
	// Shorter runs can be useless, because bbolt writes a whole leaf page for each change and does
	// not split a leaf page with up to four entries. Writing a small record, such as the record
	// that an erasure writes first, can therefore take 64 KiB. bbolt also writes the list of free
	// pages as one run.
	usefulRun = 1 << 20
	// spaceAge is the time for which the result of Space is cached.
	spaceAge = time.Second
)

// space contains the cached result of Space and its settings.
type space struct {
	minFree int64 // Options.MinFree or its default
	now     func() time.Time
	// disk returns the number of free bytes on the disk for this process, and the size of the disk.
	disk func(dir string) (free, total int64, err error)

	mu    sync.Mutex
	until time.Time
	err   error
}

// Space implements storage.Spacer. Space checks that at least Options.MinFree bytes are free in
// total, on the disk and in long runs of free pages of the file. Free pages count because the file
// never shrinks, so the space of erased records stays in the file.
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

// The method "measure" measures the free space. If the measurement fails, the result is nil as for
// enough free space, because a write without enough space fails anyway.
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

// freeBytes returns the total size of the long runs of free pages in the file, or 0 if the list
// cannot be read.
func (b *Backend) freeBytes() (free int64) {
	// While a read transaction is open, bbolt does not reuse pages that newer transactions free.
	// The free list of the newest header therefore stays intact while freeBytes reads the list.
	// freeBytes reads the list directly, because bbolt has no function for reading the list.
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
		if n == 0xFFFF { // the number of pages does not fit into the header
			n, at = order.Uint64(head[pageHeader:]), at+8
		}
		ids := bufio.NewReaderSize(io.NewSectionReader(b.fd, at, 8*int64(min(n, h.next))), 64<<10)
		free, err = runsOf(ids, h.pageSize)
		return err
	})
	return free
}

// runsOf reads sorted page ids and returns the total number of bytes in long runs.
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
