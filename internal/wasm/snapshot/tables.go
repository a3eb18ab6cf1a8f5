package snapshot

import "github.com/toolrun/toolrun/internal/wasm/binary"

// The instructions that change a table or an element segment and that package binary has no name for.
const (
	tableSet = binary.Op(0x26)
	elemDrop = binary.Op(0xfc0d)
)

// checkTables refuses modules whose code changes its tables: what stands in them are addresses of one instance,
// so an image cannot hold them. Nobody else can change them. They are not imported, and of an exported one
// wazero lets the host only read.
func checkTables(m *binary.Module) error {
	if len(m.Tables) == 0 {
		return nil
	}
	for i, f := range m.Functions {
		for in := range binary.Instructions(f.Code) {
			switch in.Op {
			case tableSet, elemDrop, binary.TableInit, binary.TableCopy, binary.TableGrow, binary.TableFill:
				return unsupported("its function %d changes a table", i+m.ImportedFuncs())
			}
		}
	}
	return nil
}
