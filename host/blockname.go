package host

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// Find returns the declaration of a block. If the app has no block with this name, the error is
// abi.NotFound, even if another store has the name.
func (b Blocks) Find(name string) (declare.Block, error) {
	all := b.Declared()
	i := slices.IndexFunc(all, func(d declare.Block) bool { return d.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	f := abi.Faultf(abi.NotFound, "the app has no block %q", name)
	f.Store = name
	if len(all) == 0 {
		return declare.Block{}, f.WithHint("declare blocks: true in the app file")
	}
	names := ""
	for i, d := range all {
		if i > 0 {
			names += ", "
		}
		names += d.Name
	}
	return declare.Block{}, f.WithHint("the blocks are %s", names)
}
