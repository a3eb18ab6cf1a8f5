//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file uses the kernel's page map interface; see Documentation/admin-guide/mm/pagemap.rst in
// the Linux source. The interface needs no privileges.

// The following constants are bits of an entry of /proc/self/pagemap.
const (
	pagemapPresent = 1 << 63
	pagemapSwapped = 1 << 62
	pagemapFile    = 1 << 61 // the page belongs to a file or to shared memory
	pagemapEntry   = 8
)

// pagemapBatch is the number of entries per read.
const pagemapBatch = 1024

var pagemapBuffers = sync.Pool{New: func() any { return new([pagemapBatch * pagemapEntry]byte) }}

// readFinder returns a finder that reads the entries of all pages.
func readFinder(file *os.File) finder {
	return func(mapping []byte) ([]int, bool) {
		buffer := pagemapBuffers.Get().(*[pagemapBatch * pagemapEntry]byte)
		defer pagemapBuffers.Put(buffer)
		var dirty []int
		first := int64(uintptr(unsafe.Pointer(&mapping[0]))) / int64(pageSize)
		for page, pages := 0, len(mapping)/pageSize; page < pages; {
			entries := buffer[:min(pages-page, pagemapBatch)*pagemapEntry]
			if _, err := file.ReadAt(entries, (first+int64(page))*pagemapEntry); err != nil {
				return nil, false
			}
			for ; len(entries) > 0; entries = entries[pagemapEntry:] {
				e := binary.NativeEndian.Uint64(entries)
				if e&(pagemapPresent|pagemapSwapped) != 0 && e&pagemapFile == 0 {
					dirty = append(dirty, page)
				}
				page++
			}
		}
		return dirty, true
	}
}

// scanRequest is the ioctl PAGEMAP_SCAN, which exists in Linux 6.7 and later. With PAGEMAP_SCAN,
// the kernel searches for pages of the given categories.
const scanRequest = 3<<30 | unsafe.Sizeof(scan{})<<16 | 'f'<<8 | 16

// The following constants are categories of pages.
const (
	scanFile    = 1 << 2
	scanPresent = 1 << 3
	scanSwapped = 1 << 4
)

// scan mirrors the kernel's struct pm_scan_arg.
type scan struct {
	size, flags                  uint64
	start, end, walked           uint64
	regions, length, max         uint64
	inverted, all, any, returned uint64
}

// region mirrors the kernel's struct page_region, which describes consecutive pages of one
// category.
type region struct{ start, end, _ uint64 }

// scanBatch is the number of regions per call to the ioctl.
const scanBatch = 512

var regionBuffers = sync.Pool{New: func() any { return new([scanBatch]region) }}

// scanFinder returns a finder with which the kernel searches the pages. The search by the kernel
// takes half as long as reading all entries.
func scanFinder(file *os.File) finder {
	return func(mapping []byte) ([]int, bool) {
		found := regionBuffers.Get().(*[scanBatch]region)
		defer regionBuffers.Put(found)
		var dirty []int
		begin := uint64(uintptr(unsafe.Pointer(&mapping[0])))
		s := scan{
			size:    uint64(unsafe.Sizeof(scan{})),
			walked:  begin,
			end:     begin + uint64(len(mapping)),
			regions: uint64(uintptr(unsafe.Pointer(found))), length: scanBatch,
			inverted: scanFile, all: scanFile, any: scanPresent | scanSwapped, returned: scanPresent,
		}
		for s.walked != s.end {
			s.start = s.walked
			n, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), scanRequest, uintptr(unsafe.Pointer(&s)))
			if errno != 0 || s.walked <= s.start {
				return nil, false
			}
			for _, r := range found[:n] {
				for at := r.start; at < r.end; at += uint64(pageSize) {
					dirty = append(dirty, int(at-begin)/pageSize)
				}
			}
		}
		return dirty, true
	}
}
