package snapshot

import (
	"bytes"
	"testing"
)

// testImage returns an image of nonzero pages that ends with half a page of zeros.
func testImage(pages int) []byte {
	image := make([]byte, pages*pageSize)
	for i := range len(image) - pageSize/2 {
		image[i] = byte(i)*7 | 1
	}
	return image
}

func newTestMemory(t *testing.T, image []byte, limit int) *memory {
	t.Helper()
	s, err := newSource(image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	m, err := newMemory(s, uint64(limit))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Free)
	return m
}

func TestRewind(t *testing.T) {
	for _, test := range []struct {
		name                string
		image, size, writes int // in pages
	}{
		{"nothing written", 3, 5, 0},
		{"one page", 3, 5, 1},
		{"image and zeros", 3, 5, 5},
		{"zeros only", 0, 5, 5},
		{"image only", 5, 5, 5},
		{"more pages than are copied", 10, 1100, 1100},
	} {
		t.Run(test.name, func(t *testing.T) {
			image := testImage(test.image)
			m := newTestMemory(t, image, (test.size+1)*pageSize)
			want := append(bytes.Clone(image), make([]byte, (test.size-test.image)*pageSize)...)
			for range 3 {
				all := m.Reallocate(uint64(test.size * pageSize))
				if !bytes.Equal(all, want) {
					t.Fatal("the memory is not the image followed by zeros")
				}
				for i := range all[:test.writes*pageSize] {
					all[i] ^= 0xff
				}
				if !m.rewind() {
					t.Fatal("rewind = false")
				}
			}
		})
	}
}

func TestReallocate(t *testing.T) {
	m := newTestMemory(t, testImage(2), 6*pageSize)
	first := m.Reallocate(uint64(3 * pageSize))
	first[3*pageSize-1] = 9
	more := m.Reallocate(uint64(6 * pageSize))
	if more[3*pageSize-1] != 9 || len(more) != 6*pageSize {
		t.Error("growing lost written data")
	}
	if got := m.Reallocate(uint64(7 * pageSize)); got != nil {
		t.Errorf("Reallocate past the limit = %d bytes; want none", len(got))
	}
}

// TestSourceIsShared checks that writes to a memory do not change its source or other memories.
func TestSourceIsShared(t *testing.T) {
	image := testImage(2)
	s, err := newSource(image)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	one, err := newMemory(s, uint64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Free()
	two, err := newMemory(s, uint64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	defer two.Free()
	clear(one.Reallocate(uint64(len(image))))
	if !bytes.Equal(two.Reallocate(uint64(len(image))), image) {
		t.Error("a memory shows data written to another")
	}
}

func TestUsedLength(t *testing.T) {
	for _, test := range []struct {
		image []byte
		want  int
	}{
		{nil, 0},
		{make([]byte, 100), 0},
		{append([]byte{1}, make([]byte, 30)...), 1},
		{append(make([]byte, 30), 1), 31},
		{append(append(make([]byte, 8), 1), make([]byte, 8)...), 9},
	} {
		if got := usedLength(test.image); got != test.want {
			t.Errorf("usedLength(%v) = %d; want %d", test.image, got, test.want)
		}
	}
}
