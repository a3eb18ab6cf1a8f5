//go:build linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/hostile/native"
)

func TestMain(m *testing.M) {
	sandbox.Main(native.Languages()...)
	if len(os.Args) > 1 && os.Args[1] == "native" {
		if err := native.Main(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestBlocked enables all layers and checks that every attack is blocked.
func TestBlocked(t *testing.T) {
	absent, err := native.Missing()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range try(t, native.Attacks(), "") {
		if !r.Alive || r.Late {
			t.Errorf("%s: %s after %v; neighbor and host alive: %t; want both alive in time", r.Attack, r.Answer, r.Duration, r.Alive)
		}
		if !r.Blocked && !native.Needs(r.Attack, absent) {
			t.Errorf("%s: %s; want blocked (missing layers: %v)", r.Attack, r.Answer, absent)
		}
	}
}

// TestEachLayerOff disables each isolation layer in turn. The host and the other guests must
// survive.
func TestEachLayerOff(t *testing.T) {
	for i, layer := range sandbox.Layers()[1:] {
		for _, r := range try(t, part(i), layer) {
			if !r.Alive || r.Late {
				t.Errorf("without %s: %s: %s after %v; neighbor and host alive: %t; want both alive in time", layer, r.Attack, r.Answer, r.Duration, r.Alive)
			}
		}
	}
}

// part divides the attacks into several parts and returns the part with the given number. In a soak
// test, part returns all attacks. The command "make hostile" also runs all attacks.
func part(number int) (some []native.Attack) {
	const parts = 16
	for i, a := range native.Attacks() {
		if os.Getenv("TOOLRUN_SOAK") != "" || i%parts == number%parts {
			some = append(some, a)
		}
	}
	return some
}

func try(t *testing.T, attacks []native.Attack, without string) []native.Result {
	t.Helper()
	results, err := native.Run(t.Context(), []string{os.Args[0], "native"}, attacks, without)
	if err != nil {
		t.Fatal(err)
	}
	return results
}
