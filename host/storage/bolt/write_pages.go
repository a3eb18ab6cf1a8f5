package bolt

import (
	"bufio"
	"hash/fnv"
	"io"
	"os"
)

// metaPage is the flag of the two header pages of a file.
const metaPage = 0x04

// pageWriter writes a bbolt database from sorted entries. When a page is full, pageWriter writes
// the page at the end of the file. For large records, bbolt's own transactions would take ten times
// as long and use half a gigabyte of memory, because they rewrite each record many times.
//
// pageWriter keeps one page of each level in memory. If a value fills at least one page, the value
// gets separate pages. pageWriter copies such a value directly from the source file to the new
// file.
type pageWriter struct {
	w        *bufio.Writer
	pageSize int
	next     uint64 // the id of the next page
	zeros    []byte
}

// visit is a callback that receives entries in key order. The caller must not change the key and
// the value until the file has been written.
type visit func(k, v []byte) error

// writePages writes a database to the file f, which must be empty. The function "buckets" calls its
// argument "add" once for each bucket, in order. The arguments of "add" are the name of the bucket
// and a function that yields the entries of the bucket.
func writePages(f *os.File, pageSize int, buckets func(add func(name []byte, entries func(visit) error) error) error) error {
	if _, err := f.Seek(int64(2*pageSize), io.SeekStart); err != nil { // after the headers
		return err
	}
	w := &pageWriter{w: bufio.NewWriterSize(f, 1<<20), pageSize: pageSize, next: 2, zeros: make([]byte, pageSize)}
	root := w.tree()
	err := buckets(func(name []byte, entries func(visit) error) error {
		bucket := w.tree()
		if err := entries(func(k, v []byte) error { return bucket.add(element{key: k, value: v}) }); err != nil {
			return err
		}
		id, err := bucket.finish()
		if err != nil {
			return err
		}
		value := order.AppendUint64(nil, id)
		return root.add(element{flags: bucketFlag, key: name, value: order.AppendUint64(value, 0)})
	})
	if err != nil {
		return err
	}
	h := header{pageSize: int64(pageSize)}
	if h.root, err = root.finish(); err != nil {
		return err
	}
	if h.freelist, err = w.page(freelistPage, nil); err != nil {
		return err
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	h.next = w.next
	return writeHeaders(f, h)
}

// writeHeaders writes both header pages. The second header has the higher transaction id.
func writeHeaders(f *os.File, h header) error {
	for id := range uint64(2) {
		page := order.AppendUint64(make([]byte, 0, h.pageSize), id)
		page = order.AppendUint16(page, metaPage)
		page = append(page, make([]byte, pageHeader-len(page))...)
		start := len(page)
		page = order.AppendUint32(page, magic)
		page = order.AppendUint32(page, fileVersion)
		page = order.AppendUint32(page, uint32(h.pageSize))
		page = order.AppendUint32(page, 0)
		for _, v := range []uint64{h.root, 0, h.freelist, h.next, id} {
			page = order.AppendUint64(page, v)
		}
		sum := fnv.New64a()
		sum.Write(page[start:])
		page = order.AppendUint64(page, sum.Sum64())
		if _, err := f.WriteAt(page, int64(id)*h.pageSize); err != nil {
			return err
		}
	}
	return nil
}

// element is an entry of a leaf page or of a branch page. In a branch page, the entry has a page id
// instead of a value.
type element struct {
	flags      uint32
	key, value []byte
	child      uint64
}

func (e element) size() int { return elementSize + len(e.key) + len(e.value) }

// page writes a page together with its overflow pages, and returns the id of the page.
func (w *pageWriter) page(flags uint16, elements []element) (id uint64, err error) {
	size := pageHeader
	for _, e := range elements {
		size += e.size()
	}
	n := max(1, (size+w.pageSize-1)/w.pageSize)
	id = w.next
	w.next += uint64(n)
	head := make([]byte, 0, pageHeader+len(elements)*elementSize)
	head = order.AppendUint64(head, id)
	head = order.AppendUint16(head, flags)
	head = order.AppendUint16(head, uint16(len(elements)))
	head = order.AppendUint32(head, uint32(n-1))
	data := pageHeader + len(elements)*elementSize // the offset of the next key
	for _, e := range elements {
		pos := uint32(data - len(head)) // in the file, the offset is relative to the element
		if flags == branchPage {
			head = order.AppendUint32(head, pos)
			head = order.AppendUint32(head, uint32(len(e.key)))
			head = order.AppendUint64(head, e.child)
		} else {
			for _, v := range []uint32{e.flags, pos, uint32(len(e.key)), uint32(len(e.value))} {
				head = order.AppendUint32(head, v)
			}
		}
		data += len(e.key) + len(e.value)
	}
	_, err = w.w.Write(head) // the writer keeps its first error
	for _, e := range elements {
		_, _ = w.w.Write(e.key)
		_, err = w.w.Write(e.value)
	}
	if rest := n*w.pageSize - size; rest > 0 {
		_, err = w.w.Write(w.zeros[:rest])
	}
	return id, err
}

// tree starts a new tree and returns the leaf level of the tree. The tree is built from the leaves
// to the root.
func (w *pageWriter) tree() *level { return &level{w: w, flags: leafPage} }

// level is the state of one level of a tree while the tree is written. A level contains the
// elements of the level's last page. The last page is not full yet. The pages of the parent level
// reference the pages of the level.
type level struct {
	w        *pageWriter
	flags    uint16
	elements []element
	size     int
	above    *level // the parent level; nil until the level has a second page
}

// add appends an element to the level. The key of the element must be greater than all previous
// keys. The caller must not change the key and the value until the tree is finished.
func (l *level) add(e element) error {
	// bbolt rejects a branch page with only one element. When a page is full, the last element of
	// the page therefore moves to the next page. As a result, every branch page has at least two
	// elements.
	minimum, reserve := 1, 0
	if l.flags == branchPage {
		minimum, reserve = 2, 1
	}
	if n := len(l.elements) - reserve; n >= minimum && pageHeader+l.size+e.size() > l.w.pageSize {
		if err := l.flush(n); err != nil {
			return err
		}
	}
	l.elements = append(l.elements, e)
	l.size += e.size()
	return nil
}

// flush writes a page with the first n elements and adds the page to the parent level.
func (l *level) flush(n int) error {
	first := l.elements[0].key
	id, err := l.w.page(l.flags, l.elements[:n])
	if err != nil {
		return err
	}
	if l.above == nil {
		l.above = &level{w: l.w, flags: branchPage}
	}
	l.elements, l.size = append(l.elements[:0], l.elements[n:]...), 0
	for _, e := range l.elements {
		l.size += e.size()
	}
	return l.above.add(element{key: first, child: id})
}

// finish writes the remaining elements and returns the root page.
func (l *level) finish() (root uint64, err error) {
	if l.above == nil {
		return l.w.page(l.flags, l.elements)
	}
	if err := l.flush(len(l.elements)); err != nil {
		return 0, err
	}
	return l.above.finish()
}
