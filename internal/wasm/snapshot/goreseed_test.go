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

// These are the indexes in the list of samples that the guest "chance" returns.
const (
	fromCrypto = iota
	fromRand
	fromRandV2
	fromIntN
	orderOld // the iteration order of a map that was created during initialization
	orderNew
	drawn
	clock
	elapsed
	samples
)

// sample returns the samples from a restored guest.
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

// TestGoRandom checks that runs from one image of a Go program do not have equal random data.
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
		if got, after := int64(answers[clock]), time.Now().UnixNano(); got < before || got > after {
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
			t.Errorf("sample %d: %d different values in %d runs; want no repetition", i, len(seen[i]), runs)
		}
	}
	// A map iteration starts at one of 16 positions.
	for _, i := range []int{orderOld, orderNew} {
		if len(seen[i]) < 4 {
			t.Errorf("order %d: %d different values in %d runs; want several", i, len(seen[i]), runs)
		}
	}
	if len(seen[drawn]) != 1 {
		t.Errorf("%d different numbers were drawn in the initialisation; want 1, that of the image", len(seen[drawn]))
	}
}

// TestGoSeed checks that runs with equal seeds are equal.
func TestGoSeed(t *testing.T) {
	image := take(t, newRuntime(t), goGuest(t, "chance"), snapshot.Options{})
	seeded := func(seed byte) [samples]uint64 { return sample(t, image, rand.NewChaCha8([32]byte{seed})) }
	one, again, other := seeded(1), seeded(1), seeded(2)
	for _, i := range []int{fromRand, fromRandV2, fromIntN, orderOld, orderNew} {
		if one[i] != again[i] {
			t.Errorf("sample %d: %d and %d with the same seed", i, one[i], again[i])
		}
	}
	for _, i := range []int{fromRand, fromRandV2, fromIntN} {
		if one[i] == other[i] {
			t.Errorf("sample %d: %d with two seeds", i, one[i])
		}
	}
	// math/rand/v2 uses the following generator. The numbers of the generator start with the first
	// block of the seed. The guest draws all of its numbers from this block, in some order. The
	// numbers include the numbers for the map iteration.
	var state [32]byte
	if _, err := rand.NewChaCha8([32]byte{1}).Read(state[:]); err != nil {
		t.Fatal(err)
	}
	g, numbers := rand.NewChaCha8(state), map[uint64]bool{}
	for range 32 {
		numbers[g.Uint64()] = true
	}
	if !numbers[one[fromRand]] || !numbers[one[fromRandV2]] {
		t.Error("the numbers of the guest are not those of a generator with that seed")
	}
}

func TestCaptureInitializedVaries(t *testing.T) {
	r := newRuntime(t)
	for _, test := range []struct {
		name, ask, want string
		wasm            []byte
	}{
		{"time in a Go program", "ASK=time", "reads the real-time clock", goGuest(t, "chance")},
		{"random bytes in a Go program", "ASK=random", "reads random numbers", goGuest(t, "chance")},
		{"monotonic clock elsewhere", "ASK=", "reads the monotonic clock", asking},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := load(t, r, test.wasm, snapshot.Options{})
			var w snapshot.NondeterminismProbe
			_, err := snapshot.CaptureInitialized(witnessed(t, &w, test.ask), base, &w)
			if !errors.Is(err, snapshot.ErrVaries) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("CaptureInitialized = %v; want an ErrVaries with %q", err, test.want)
			}
			for range 2 { // each run initializes its own instance
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

func TestCaptureInitializedFails(t *testing.T) {
	base := load(t, newRuntime(t), goGuest(t, "chance"), snapshot.Options{})
	var w snapshot.NondeterminismProbe
	_, err := snapshot.CaptureInitialized(witnessed(t, &w, "ASK=exit"), base, &w)
	var exit *sys.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("CaptureInitialized of a guest that exits = %v; want exit code 3", err)
	}
	in := restore(t, base)
	defer closeInstance(t, in)
	if got := in.Guest().ExportedFunction("sample"); got == nil {
		t.Error("the image cannot be restored after a guest failed")
	}
}

// TestGoKeepsOtherGenerators checks that Restore does not reseed a generator that the guest's code
// has seeded.
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
