package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"

	"github.com/toolrun/toolrun/host/storage"
)

// bbolt maps its file into memory and does not check the content. If a page is damaged, bbolt can
// read outside the mapping, recurse forever or allocate too much memory. The function recover
// cannot stop these failures. Package bolt therefore checks the pages with ordinary reads before
// bbolt opens the file.
//
// bbolt writes numbers in the machine's byte order.
const (
	pageHeader   = 16 // id uint64, flags uint16, count uint16, overflow uint32
	metaSize     = 64
	elementSize  = 16
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketFlag   = 0x01

	magic       = 0xED0CDAED
	fileVersion = 2
	minPageSize = 1 << 10
	maxPageSize = 1 << 24
)

var errForeign = errors.New("the file is not a toolrun database: choose another file")

// noFreelist is the page id in a header if the free list is not stored.
const noFreelist = 0xFFFFFFFFFFFFFFFF

// header contains the fields of a meta page. A meta page locates the parts of the file after one
// transaction.
type header struct {
	pageSize             int64
	root, freelist, next uint64 // page ids; "next" is the first unused page at the end
	transaction          uint64
}

// readHeader returns the newer valid meta page. The result "damaged" is true if one of the two meta
// pages is invalid. If one meta page is invalid, bbolt uses the other meta page. If a crash
// interrupted the write of a meta page, no committed data is lost. If the disk damaged a complete
// meta page later, the commit that wrote the meta page is lost.
func readHeader(r io.ReaderAt, size int64) (h header, damaged bool, err error) {
	if size == 0 {
		return h, false, errors.New("the file is empty, so the data is lost: restore the file from a backup, or delete the file to start without data")
	}
	first, known, ok := readMeta(r, 0)
	sizes := []int64{first.pageSize}
	if !ok {
		sizes = nil
		for s := int64(minPageSize); s <= maxPageSize; s *= 2 {
			sizes = append(sizes, s)
		}
	}
	second, ok2 := header{}, false
	for _, s := range sizes {
		m, found, valid := readMeta(r, s)
		known = known || found
		if valid && m.pageSize == s {
			second, ok2 = m, true
			break
		}
	}
	switch {
	case !known:
		return h, false, errForeign
	case !ok && !ok2:
		return h, false, damage("the header pages are damaged or truncated")
	case !ok || ok2 && second.transaction > first.transaction:
		first = second
	}
	if need := int64(first.next) * first.pageSize; first.next < 2 || first.next > uint64(size) || need > size {
		return h, false, damage("the file is truncated: it has %d bytes; expected at least %d", size, need)
	}
	return first, !ok || !ok2, nil
}

// readMeta reads the meta page at an offset. The result "known" is true if the page looks like a
// meta page. The result "valid" is true if the page is intact.
func readMeta(r io.ReaderAt, offset int64) (h header, known, valid bool) {
	buf := make([]byte, metaSize)
	if n, _ := r.ReadAt(buf, offset+pageHeader); n < metaSize {
		return h, n >= 4 && order.Uint32(buf) == magic, false
	}
	h = header{
		pageSize: int64(order.Uint32(buf[8:])), root: order.Uint64(buf[16:]), freelist: order.Uint64(buf[32:]),
		next: order.Uint64(buf[40:]), transaction: order.Uint64(buf[48:]),
	}
	sum := fnv.New64a()
	sum.Write(buf[:56])
	known = order.Uint32(buf) == magic
	sane := h.pageSize >= minPageSize && h.pageSize <= maxPageSize && bits.OnesCount64(uint64(h.pageSize)) == 1
	return h, known, known && sane && order.Uint32(buf[4:]) == fileVersion && order.Uint64(buf[56:]) == sum.Sum64()
}

var order = binary.NativeEndian

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{storage.ErrCorrupt}, args...)...)
}

// walker checks that the pages in use form trees. Each page of a tree must be intact, must be in
// the file, and must be referenced exactly once. The keys of a page must be in the range that the
// parent pages specify. If the free list is not stored, bbolt makes the same checks in a new
// goroutine. A panic in that goroutine would end the process.
type walker struct {
	header
	r     io.ReaderAt
	used  []bool
	todo  []subtree // to visit
	bytes []byte    // reused
}

// subtree is a page and all pages below it. Each key in the page must be at least the field "low"
// and less than the field "high". If high is nil, the range has no upper bound.
type subtree struct {
	page      uint64
	low, high []byte
}

// contains reports whether a key is in the range of the subtree.
func (s subtree) contains(key []byte) bool {
	return bytes.Compare(key, s.low) >= 0 && (s.high == nil || bytes.Compare(key, s.high) < 0)
}

// checkPages checks every page that is reachable from the header. checkPages returns the number of
// lost pages. A lost page is neither reachable nor free. Lost pages waste space but do no other
// harm. If no free list is stored, all unreachable pages are free.
func checkPages(r io.ReaderAt, h header) (lost int, err error) {
	w := &walker{header: h, r: r, used: make([]bool, h.next), todo: []subtree{{page: h.root}}}
	w.used[0], w.used[1] = true, true
	for len(w.todo) > 0 {
		next := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		flags, count, page, err := w.read(next.page)
		if err == nil {
			err = w.visit(next, flags, count, page)
		}
		if err != nil {
			return 0, fmt.Errorf("page %d: %w", next.page, err)
		}
	}
	if h.freelist == noFreelist {
		return 0, nil
	}
	if err := w.checkFreelist(); err != nil {
		return 0, fmt.Errorf("free list: %w", err)
	}
	for _, used := range w.used {
		if !used {
			lost++
		}
	}
	return lost, nil
}

// read returns the bytes of a page and of its overflow pages, and marks the pages as used.
func (w *walker) read(id uint64) (flags uint16, count int, page []byte, err error) {
	if id < 2 || id >= w.next {
		return 0, 0, nil, damage("the page does not exist")
	}
	var head [pageHeader]byte
	if _, err := w.r.ReadAt(head[:], int64(id)*w.pageSize); err != nil {
		return 0, 0, nil, damage("%v", err)
	}
	if order.Uint64(head[:]) != id {
		return 0, 0, nil, damage("the page has the id of another page")
	}
	n := 1 + uint64(order.Uint32(head[12:]))
	if n > w.next-id {
		return 0, 0, nil, damage("the page ends beyond the file")
	}
	for i := id; i < id+n; i++ {
		if w.used[i] {
			return 0, 0, nil, damage("page %d is used twice", i)
		}
		w.used[i] = true
	}
	if size := int(n) * int(w.pageSize); cap(w.bytes) < size {
		w.bytes = make([]byte, size)
	} else {
		w.bytes = w.bytes[:size]
	}
	if _, err := w.r.ReadAt(w.bytes, int64(id)*w.pageSize); err != nil {
		return 0, 0, nil, damage("%v", err)
	}
	return order.Uint16(head[8:]), int(order.Uint16(head[10:])), w.bytes, nil
}

// visit checks the elements of one page and queues the pages that the elements reference.
func (w *walker) visit(tree subtree, flags uint16, count int, page []byte) error {
	if flags != branchPage && flags != leafPage || flags == branchPage && count == 0 {
		return damage("the page has the wrong type")
	}
	if pageHeader+count*elementSize > len(page) {
		return damage("the page has too many elements")
	}
	var last []byte
	for i := range count {
		start := pageHeader + i*elementSize
		e := page[start : start+elementSize]
		kind, pos, keySize, valueSize := order.Uint32(e), order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
		if flags == branchPage {
			kind, pos, keySize, valueSize = 0, order.Uint32(e), order.Uint32(e[4:]), 0
		}
		keyStart := uint64(start) + uint64(pos)
		valueStart := keyStart + uint64(keySize)
		end := valueStart + uint64(valueSize)
		if end > uint64(len(page)) || keyStart < uint64(pageHeader+count*elementSize) || keySize == 0 || kind > bucketFlag {
			return damage("element %d is malformed", i)
		}
		key := page[keyStart:valueStart]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return damage("element %d is out of order", i)
		}
		if !tree.contains(key) {
			return damage("element %d is out of the range of its page", i)
		}
		last = key
		if flags == branchPage {
			w.queueChild(tree, order.Uint64(e[8:]), key, i > 0)
		}
		if kind == bucketFlag {
			if err := w.visitBucket(page[valueStart:end]); err != nil {
				return err
			}
		}
	}
	return nil
}

// queueChild queues the page that an element references. The key of the element is also the upper
// bound for the page that the previous element references.
func (w *walker) queueChild(tree subtree, page uint64, key []byte, follows bool) {
	key = bytes.Clone(key) // the buffer that contains the key will be overwritten
	if follows {
		w.todo[len(w.todo)-1].high = key
	}
	w.todo = append(w.todo, subtree{page: page, low: key, high: tree.high})
}

// visitBucket checks the root of a bucket. A bucket stores the id of its root page. If the id is 0,
// the bucket contains its root as a small inline leaf page.
func (w *walker) visitBucket(value []byte) error {
	if len(value) < 16 {
		return damage("a bucket is malformed")
	}
	if root := order.Uint64(value); root != 0 {
		w.todo = append(w.todo, subtree{page: root})
		return nil
	}
	page := value[16:]
	if len(page) < pageHeader || order.Uint16(page[8:]) != leafPage {
		return damage("a bucket is malformed")
	}
	pages := len(w.todo)
	if err := w.visit(subtree{}, leafPage, int(order.Uint16(page[10:])), page); err != nil {
		return err
	}
	if len(w.todo) != pages {
		return damage("a bucket is malformed") // an inline bucket does not contain nested buckets
	}
	return nil
}

// checkFreelist checks that each page in the free list is in the file, is listed only once and is
// not in use.
func (w *walker) checkFreelist() error {
	flags, count, page, err := w.read(w.freelist)
	if err != nil {
		return err
	}
	ids := page[pageHeader:]
	n := uint64(count)
	if count == 0xFFFF { // the list begins with the number of ids
		n, ids = order.Uint64(ids), ids[8:]
	}
	if flags != freelistPage || n > uint64(len(ids)/8) {
		return damage("the free list is malformed")
	}
	for i := range n {
		id := order.Uint64(ids[i*8:])
		if id >= w.next || w.used[id] {
			return damage("page %d is in use or does not exist", id)
		}
		w.used[id] = true
	}
	return nil
}
