package snapshot

import "github.com/toolrun/toolrun/internal/wasm/binary"

// The opcodes that change a table or an element segment and have no name in package binary.
const (
	tableSet = binary.Op(0x26)
	elemDrop = binary.Op(0xfc0d)
)

// checkTables rejects modules whose code changes tables: their elements are addresses in one
// instance, so an image cannot contain them. Other code cannot change tables: they are not
// imported, and wazero lets the host only read exported ones.
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
