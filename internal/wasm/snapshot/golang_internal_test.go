package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// lookalikes is memory in which a generator seems to begin at that many addresses.
func lookalikes(n int) []byte {
	pattern := binary.LittleEndian.AppendUint32(nil, goCounterMax-goCounterInc)
	pattern = binary.LittleEndian.AppendUint32(pattern, goBlockLast)
	return append(make([]byte, goIndexAt), append(bytes.Repeat(pattern, n), pattern[:4]...)...)
}

// generators are that many in a row, all of the seed that a runtime with this one draws first.
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

// withoutBlocks spoils the numbers of generators, so that only computing them would tell.
func withoutBlocks(memory []byte) []byte {
	for at := 0; at < len(memory); at += (goStateEnd + 7) &^ 7 {
		memory[at+goSeedAt-1] ^= 1
	}
	return memory
}

func TestFindGoGenerators(t *testing.T) {
	seed := [goSeedSize]byte{1, 2, 3}
	one := generators(t, seed, 1)
	most := lookalikes(maxGoLookalikes - 1)
	for len(most)%8 != 0 {
		most = append(most, 0)
	}
	for _, test := range []struct {
		name   string
		memory []byte
		want   []int
		err    error
	}{
		{"nothing", make([]byte, wasmPage), nil, nil},
		{"one", one, []int{0}, nil},
		{"another's", generators(t, [goSeedSize]byte{9}, 1), nil, nil},
		{"one behind what looks like it", slices.Concat(most, one), []int{len(most)}, nil},
		{"too much that looks like it", slices.Concat(most, one, one), nil, ErrVaries},
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

// The search ends with the context of who waits for the image.
func TestFindGoGeneratorsEnds(t *testing.T) {
	seed := [goSeedSize]byte{1}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	w := Witness{reads: 1, random: seed[:]}
	if _, err := w.verdict(ctx, generators(t, seed, 1)); err != enough {
		t.Errorf("verdict after the end = %v; want %v", err, enough)
	}
}
