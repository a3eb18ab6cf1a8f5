package snapshot_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// What the guest chance answers, by index.
const (
	fromCrypto = iota
	fromRand
	fromRandV2
	fromIntN
	orderOld // of a map that was made in the initialisation
	orderNew
	drawn
	wall
	elapsed
	samples
)

// sample is what a restored guest answers.
func sample(t *testing.T, image *snapshot.Image, random io.Reader) (answers [samples]uint64) {
	t.Helper()
	ctx := system(t, wasi.Config{})
	in, err := image.Restore(ctx, random)
	if err != nil {
		t.Fatal(err)
	}
	defer closeInstance(t, in)
	at := uint32(call(t, ctx, in.Guest(), "sample"))
	for i := range answers {
		answers[i], _ = in.Guest().Memory().ReadUint64Le(at + uint32(8*i))
	}
	return answers
}

// The runs that share an image of a Go program share nothing that is random at the time of the run.
func TestGoRandom(t *testing.T) {
	image := take(t, newRuntime(t), goGuest(t, "chance"), snapshot.Options{})
	const runs = 40
	var seen [samples]map[uint64]bool
	for i := range seen {
		seen[i] = map[uint64]bool{}
	}
	for range runs {
		before := time.Now().UnixNano()
		answers := sample(t, image, nil)
		if got, after := int64(answers[wall]), time.Now().UnixNano(); got < before || got > after {
			t.Errorf("time.Now = %d; want it between %d and %d", got, before, after)
		}
		if got := time.Duration(answers[elapsed]); got < 0 || got > time.Minute {
			t.Errorf("time.Since = %v", got)
		}
		for i, answer := range answers {
			seen[i][answer] = true
		}
	}
	for _, i := range []int{fromCrypto, fromRand, fromRandV2, fromIntN} {
		if len(seen[i]) != runs {
			t.Errorf("answer %d: %d different ones in %d runs; want no repetition", i, len(seen[i]), runs)
		}
	}
	// A walk begins at one of 16 places.
	for _, i := range []int{orderOld, orderNew} {
		if len(seen[i]) < 4 {
			t.Errorf("order %d: %d different ones in %d runs; want several", i, len(seen[i]), runs)
		}
	}
	if len(seen[drawn]) != 1 {
		t.Errorf("%d different numbers were drawn in the initialisation; want 1, that of the image", len(seen[drawn]))
	}
}

// The same seed gives the same run.
func TestGoSeed(t *testing.T) {
	image := take(t, newRuntime(t), goGuest(t, "chance"), snapshot.Options{})
	seeded := func(seed byte) [samples]uint64 { return sample(t, image, rand.NewChaCha8([32]byte{seed})) }
	one, again, other := seeded(1), seeded(1), seeded(2)
	for _, i := range []int{fromRand, fromRandV2, fromIntN, orderOld, orderNew} {
		if one[i] != again[i] {
			t.Errorf("answer %d: %d and %d with the same seed", i, one[i], again[i])
		}
	}
	for _, i := range []int{fromRand, fromRandV2, fromIntN} {
		if one[i] == other[i] {
			t.Errorf("answer %d: %d with two seeds", i, one[i])
		}
	}
	// It is the generator of math/rand/v2, whose numbers begin with the seed's first block: that of the map's
	// walk and the others are taken from there in some order.
	var state [32]byte
	if _, err := rand.NewChaCha8([32]byte{1}).Read(state[:]); err != nil {
		t.Fatal(err)
	}
	g, numbers := rand.NewChaCha8(state), map[uint64]bool{}
	for range 32 {
		numbers[g.Uint64()] = true
	}
	if !numbers[one[fromRand]] || !numbers[one[fromRandV2]] {
		t.Error("the guest's numbers are not those of the generator that the seed makes")
	}
}

func TestTakeVaries(t *testing.T) {
	r := newRuntime(t)
	for _, test := range []struct {
		name, ask, want string
		wasm            []byte
	}{
		{"time in a Go program", "ASK=time", "asks for the time", goGuest(t, "chance")},
		{"random bytes in a Go program", "ASK=random", "asks for random numbers", goGuest(t, "chance")},
		{"monotonic clock elsewhere", "ASK=", "asks for the monotonic clock", asking},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := load(t, r, test.wasm, snapshot.Options{})
			var w snapshot.Witness
			_, err := snapshot.Take(witnessed(t, &w, test.ask), base, &w)
			if !errors.Is(err, snapshot.ErrVaries) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("Take = %v; want an ErrVaries with %q", err, test.want)
			}
			for range 2 { // so each run initialises its own
				ctx := system(t, wasi.Config{Environ: []string{test.ask}})
				in := restore(t, base)
				if err := in.Initialize(ctx); err != nil {
					t.Fatal(err)
				}
				closeInstance(t, in)
			}
		})
	}
}

func TestTakeFails(t *testing.T) {
	base := load(t, newRuntime(t), goGuest(t, "chance"), snapshot.Options{})
	var w snapshot.Witness
	_, err := snapshot.Take(witnessed(t, &w, "ASK=exit"), base, &w)
	var exit *sys.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("Take of a guest that exits = %v; want its exit with 3", err)
	}
	in := restore(t, base)
	defer closeInstance(t, in)
	if got := in.Guest().ExportedFunction("sample"); got == nil {
		t.Error("the image is of no use after a guest failed")
	}
}

// A generator that an author seeded is the author's: its numbers are those of his seed in every run.
func TestGoKeepsOtherGenerators(t *testing.T) {
	image := take(t, newRuntime(t), goGuest(t, "chance"), snapshot.Options{})
	want := rand.NewChaCha8([32]byte{7}).Uint64()
	for range 3 {
		ctx := system(t, wasi.Config{})
		in := restore(t, image)
		if got := call(t, ctx, in.Guest(), "own"); got != want {
			t.Errorf("the first number of the guest's own generator = %d; want %d", got, want)
		}
		closeInstance(t, in)
	}
}
