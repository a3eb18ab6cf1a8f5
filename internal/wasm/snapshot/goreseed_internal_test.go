package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// lookalikes returns memory in which n addresses contain data that resembles a generator.
func lookalikes(n int) []byte {
	pattern := binary.LittleEndian.AppendUint32(nil, goCounterMax-goCounterInc)
	pattern = binary.LittleEndian.AppendUint32(pattern, goBlockLast)
	return append(make([]byte, goIndexAt), append(bytes.Repeat(pattern, n), pattern[:4]...)...)
}

// generators returns n consecutive generators. A Go runtime starts with the given seed and derives
// another seed from it. The derived seed is the seed of these generators.
func generators(t *testing.T, seed [goSeedSize]byte, n int) []byte {
	t.Helper()
	drawn := generate(seed, goSeedSize/8)
	at := make([]int, n)
	size := (goStateEnd + 7) &^ 7
	for i := range at {
		at[i] = i * size
	}
	memory := make([]byte, n*size)
	if err := seedGoGenerators(memory, at, bytes.NewReader(bytes.Repeat(drawn, n))); err != nil {
		t.Fatal(err)
	}
	return memory
}

// withoutBlocks changes the numbers of the generators. To detect that the numbers are wrong, the
// search must compute the block of the generator.
func withoutBlocks(memory []byte) []byte {
	for at := 0; at < len(memory); at += (goStateEnd + 7) &^ 7 {
		memory[at+goSeedAt-1] ^= 1
	}
	return memory
}

func TestFindGoGenerators(t *testing.T) {
	seed := [goSeedSize]byte{1, 2, 3}
	one := generators(t, seed, 1)
	filler := lookalikes(maxGoLookalikes - 1)
	for len(filler)%8 != 0 {
		filler = append(filler, 0)
	}
	for _, test := range []struct {
		name   string
		memory []byte
		want   []int
		err    error
	}{
		{"nothing", make([]byte, wasmPage), nil, nil},
		{"one", one, []int{0}, nil},
		{"one of another seed", generators(t, [goSeedSize]byte{9}, 1), nil, nil},
		{"one after lookalikes", slices.Concat(filler, one), []int{len(filler)}, nil},
		{"too many lookalikes", slices.Concat(filler, one, one), nil, ErrVaries},
		{"too many", generators(t, seed, maxGoGenerators+1), nil, ErrVaries},
		{"too many seeds without their blocks", withoutBlocks(generators(t, seed, maxGoGenerators+1)), nil, ErrVaries},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := findGoGenerators(t.Context(), test.memory, seed[:])
			if !slices.Equal(got, test.want) || !errors.Is(err, test.err) {
				t.Errorf("findGoGenerators = %v, %v; want %v, %v", got, err, test.want, test.err)
			}
		})
	}
}

// TestFindGoGeneratorsEnds checks that the search ends when the context ends.
func TestFindGoGeneratorsEnds(t *testing.T) {
	seed := [goSeedSize]byte{1}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	w := NondeterminismProbe{reads: 1, random: seed[:]}
	if _, err := w.classify(ctx, generators(t, seed, 1)); err != enough {
		t.Errorf("classify after the end = %v; want %v", err, enough)
	}
}
