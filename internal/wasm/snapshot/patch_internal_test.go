package snapshot

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Sources are taken of memories, and of memories that begin with those: each is what the memory was, whatever became of
// it afterwards, and puts back what others write.
func TestPicture(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const pages, most = 400, 500
	from := newTestMemory(t, picture(pages), most*pageSize)
	from.Reallocate(pages * uint64(pageSize))
	for round := range 8 {
		size := pages + 10*round
		all := from.Reallocate(uint64(size * pageSize))
		for range 1 + random.IntN(8*(round+1)) {
			at := random.IntN(len(all) - 3*pageSize)
			fill(all[at:][:random.IntN(3*pageSize)])
		}
		clear(all[round*pageSize:][:pageSize]) // a page that is zero only now
		want := bytes.Clone(all)
		taken, err := from.picture()
		if err != nil {
			t.Fatal(err)
		}
		fill(all)
		next, err := newMemory(taken, uint64(most*pageSize))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(next.Free)
		t.Cleanup(taken.close)
		for turn := range 4 {
			now := next.Reallocate(uint64(size * pageSize))
			if !bytes.Equal(now, want) {
				t.Fatalf("round %d, turn %d: the memory is not what it was", round, turn)
			}
			if beyond := next.Reallocate(most * uint64(pageSize)); !bytes.Equal(beyond[size*pageSize:], make([]byte, (most-size)*pageSize)) {
				t.Fatalf("round %d, turn %d: what lies beyond is not zero", round, turn)
			}
			if fill(now[:min(len(now), (turn*turn)*100*pageSize)]); !next.rewind() {
				t.Fatal("rewind = false")
			}
		}
		from = next
	}
}

// A source lives as long as one that was taken of a memory that began with it.
func TestBaseLivesOn(t *testing.T) {
	image := picture(300)
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
	taken, err := m.picture()
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
		t.Error("the memory is not what it was")
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(i)*3 | 2
	}
}
