//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"slices"
)

// capture returns a source with the current content of the memory. If the written pages are known
// and few, the source contains only these pages.
func (m *memory) capture() (*source, error) {
	changed, ok := m.changed()
	if !ok {
		return newSource(m.bytes())
	}
	base := m.source
	if base.base != nil {
		for _, p := range base.patches {
			for at := p.at; at < p.at+p.length; at += pageSize {
				changed = append(changed, at/pageSize)
			}
		}
		slices.Sort(changed)
		base = base.base
	}
	patches := patchesOf(changed, m.size)
	if n := len(patches); n > 0 && patches[n-1].offset+patches[n-1].length > m.size/maxPatchFraction {
		return newSource(m.bytes())
	}
	return newPatch(base, m.bytes(), patches)
}

// changed returns the indexes of the pages that differ from the source. If the kernel does not
// report written pages, ok is false. The kernel also reports a page as written if rewind has
// restored it, but such a page does not differ from the source.
func (m *memory) changed() ([]int, bool) {
	if m.writable == 0 {
		return nil, false
	}
	written, ok := dirtyPages(m.reserved[:m.writable])
	same := func(page int) bool {
		now := m.reserved[page*pageSize:][:pageSize]
		from := m.source.page(page * pageSize)
		return from != nil && bytes.Equal(now, from) || from == nil && usedLength(now) == 0
	}
	return slices.DeleteFunc(written, same), ok
}

// maxPatchFraction limits the size of a patch: a patch contains at most 1/maxPatchFraction of the
// memory. If more pages have changed, the new source contains all pages. The new source then serves
// as the base of later patches.
const maxPatchFraction = 4

// maxPatches is the maximum number of patch mappings of a memory. Each mapping takes time to
// create, and the system limits a process to tens of thousands of mappings.
const maxPatches = 32

// patchesOf joins sorted pages into ranges. patchesOf includes larger and larger gaps in the ranges
// until there are at most maxPatches ranges.
func patchesOf(pages []int, size int) []patch {
	for gap := 1; ; gap *= 2 {
		var patches []patch
		offset := 0
		for _, page := range pages {
			at := page * pageSize
			if at >= size {
				break
			}
			if n := len(patches); n > 0 && at < patches[n-1].at+patches[n-1].length+gap*pageSize {
				grown := max(at+pageSize-patches[n-1].at, patches[n-1].length)
				offset += grown - patches[n-1].length
				patches[n-1].length = grown
				continue
			}
			patches = append(patches, patch{at: at, length: pageSize, offset: offset})
			offset += pageSize
		}
		if len(patches) <= maxPatches {
			return patches
		}
	}
}
