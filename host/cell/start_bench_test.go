//go:build linux

package cell_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/cell"
)

// BenchmarkStart starts a cell, waits until it is ready and ends it: with all layers, without each, without any.
func BenchmarkStart(b *testing.B) {
	all := []string{cell.LayerNamespaces, cell.LayerPrivileges, cell.LayerLimits, cell.LayerCgroup, cell.LayerLandlock, cell.LayerChroot, cell.LayerSeccomp}
	without := map[string][]string{"all": nil, "none": all}
	for _, layer := range all {
		without["without "+layer] = []string{layer}
	}
	for name, layers := range without {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := newPool(b, cell.Options{Without: layers})
				if _, err := p.Report(); err != nil {
					b.Fatal(err)
				}
				p.Close()
			}
		})
	}
}
