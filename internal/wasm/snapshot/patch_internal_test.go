package snapshot

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCaptureMemory captures sources from memories. Some of the memories start with a source that
// was captured earlier. Each source must equal the memory at the time of the capture. Resetting a
// memory must restore its source.
func TestCaptureMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const pages, maxPages = 400, 500
	from := newTestMemory(t, testImage(pages), maxPages*pageSize)
	from.Reallocate(pages * uint64(pageSize))
	for round := range 8 {
		size := pages + 10*round
		all := from.Reallocate(uint64(size * pageSize))
		for range 1 + random.IntN(8*(round+1)) {
			at := random.IntN(len(all) - 3*pageSize)
			fill(all[at:][:random.IntN(3*pageSize)])
		}
		clear(all[round*pageSize:][:pageSize]) // this page previously contained data
		want := bytes.Clone(all)
		taken, err := from.capture()
		if err != nil {
			t.Fatal(err)
		}
		fill(all)
		next, err := newMemory(taken, uint64(maxPages*pageSize))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(next.Free)
		t.Cleanup(taken.close)
		for turn := range 4 {
			now := next.Reallocate(uint64(size * pageSize))
			if !bytes.Equal(now, want) {
				t.Fatalf("round %d, reuse %d: the memory differs from the captured one", round, turn)
			}
			if beyond := next.Reallocate(maxPages * uint64(pageSize)); !bytes.Equal(beyond[size*pageSize:], make([]byte, (maxPages-size)*pageSize)) {
				t.Fatalf("round %d, reuse %d: the memory beyond the source is not zero", round, turn)
			}
			if fill(now[:min(len(now), (turn*turn)*100*pageSize)]); !next.rewind() {
				t.Fatal("rewind = false")
			}
		}
		from = next
	}
}

// TestBaseLivesOn checks that a base stays open until all sources that depend on it are closed.
func TestBaseLivesOn(t *testing.T) {
	image := testImage(300)
	base, err := newSource(image)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMemory(base, uint64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	all := m.Reallocate(uint64(len(image)))
	all[5]++
	taken, err := m.capture()
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(all)
	m.Free()
	base.close()
	next, err := newMemory(taken, uint64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Free()
	defer taken.close()
	if got := next.Reallocate(uint64(len(image))); !bytes.Equal(got, want) {
		t.Error("the memory differs from the source")
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(i)*3 | 2
	}
}
