//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"slices"
)

// picture returns a source of the memory as it is. Where it is known which pages were written, and they are few, the
// source holds those alone.
func (m *memory) picture() (*source, error) {
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
	if n := len(patches); n > 0 && patches[n-1].offset+patches[n-1].length > m.size/fewPages {
		return newSource(m.bytes())
	}
	return newPatch(base, m.bytes(), patches)
}

// changed returns the pages that differ from the source, by their index. False where the kernel does not tell which were
// written. A page that was put back counts as written, but is the same.
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

// fewPages is of how much of a memory one part is little enough for patches. With more of it the source is better whole:
// others that are taken of its memories can then be patches of it, and not of what it was itself a patch of.
const fewPages = 4

// maxPatches bounds the mappings of a memory, which cost time to make and of which a process may have some ten
// thousands.
const maxPatches = 32

// patchesOf joins pages, which are sorted, to runs: the nearer they are to each other the sooner.
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
