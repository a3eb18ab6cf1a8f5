package host

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// declareBlocks is the hint in the fault that is returned if the app has no blocks.
const declareBlocks = "declare blocks: true in the app file"

// requireBlocks returns a fault if the app has no blocks.
func (b Blocks) requireBlocks() error {
	if len(b.Declared()) > 0 {
		return nil
	}
	return abi.Faultf(abi.NotFound, "the app has no blocks").WithHint(declareBlocks)
}

// findOwn returns a fault if the app has no block with the given name; see Find. If the caller is a
// tool, findOwn returns no fault, because the fault could reveal the names of blocks that are not
// granted to the tool.
func (b Blocks) findOwn(name string) error {
	if !b.authority.Unrestricted() {
		return nil
	}
	_, err := b.Find(name)
	return err
}

// Find returns the declaration of a block. If the app has no block with this name, the error is
// abi.NotFound. If a store that is not a block has this name, the error is also abi.NotFound.
func (b Blocks) Find(name string) (declare.Block, error) {
	all := b.Declared()
	i := slices.IndexFunc(all, func(d declare.Block) bool { return d.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	f := abi.Faultf(abi.NotFound, "the app has no block %q", name)
	f.Store = name
	if len(all) == 0 {
		return declare.Block{}, f.WithHint(declareBlocks)
	}
	names := ""
	for i, d := range all {
		if i > 0 {
			names += ", "
		}
		names += d.Name
	}
	return declare.Block{}, f.WithHint("the blocks of the app are: %s", names)
}
