package cli

import (
	"errors"

	"github.com/toolrun/toolrun/abi"
)

// explainSet adds a hint to an error of "toolrun block set". The hint names flags.
func (v *versionFlags) explainSet(err error, name string) error {
	switch {
	case !errors.Is(err, abi.Conflict):
		return err
	case v.replace:
		return abi.FaultOf(err).WithHint("another writer changed the block; run the command again")
	case v.updated == "" && v.revision == 0:
		return abi.FaultOf(err).WithHint("add --replace to change the block, or print its version with `toolrun block get %s --json` and pass the version with --expected or --if-revision", name)
	}
	return abi.FaultOf(err).WithHint("print the block with `toolrun block get %s --json` and pass its version with --expected or --if-revision, or add --replace", name)
}

// explainDelete is like explainSet, for "toolrun block delete".
func (v *versionFlags) explainDelete(err error, name string) error {
	if !errors.Is(err, abi.Conflict) || v.replace || v.updated != "" || v.revision != 0 {
		return v.explainSet(err, name)
	}
	f := abi.Faultf(abi.Conflict, "the deletion of the block %s requires the version of the block", name)
	f.Op, f.Store = abi.DeleteBlock, name
	return f.WithHint("print the version with `toolrun block get %s --json` and pass the version with --expected or --if-revision, or add --replace", name)
}
