//go:build linux

package sandbox_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/sandbox"
)

// BenchmarkStart starts a worker, waits until it is ready, and stops it. The benchmark runs with
// all layers, with all layers except one (for each layer), and without layers.
func BenchmarkStart(b *testing.B) {
	all := []string{sandbox.LayerNamespaces, sandbox.LayerPrivileges, sandbox.LayerLimits, sandbox.LayerCgroup, sandbox.LayerLandlock, sandbox.LayerChroot, sandbox.LayerSeccomp}
	without := map[string][]string{"all": nil, "none": all}
	for _, layer := range all {
		without["without "+layer] = []string{layer}
	}
	for name, layers := range without {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := newPool(b, sandbox.Options{Without: layers})
				if _, err := p.Report(); err != nil {
					b.Fatal(err)
				}
				p.Close()
			}
		})
	}
}
