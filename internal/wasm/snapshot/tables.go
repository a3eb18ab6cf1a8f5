package snapshot

import "github.com/toolrun/toolrun/internal/wasm/binary"

// The following opcodes change a table or an element segment. Package binary has no names for these
// opcodes.
const (
	tableSet = binary.Op(0x26)
	elemDrop = binary.Op(0xfc0d)
)

// checkTables rejects modules whose code changes tables. The elements of tables are addresses in
// one instance, so an image cannot contain them. Only the module's code can change its tables,
// because they are not imported and wazero gives the host only read access to exported tables.
func checkTables(m *binary.Module) error {
	if len(m.Tables) == 0 {
		return nil
	}
	for i, f := range m.Functions {
		for in := range binary.Instructions(f.Code) {
			switch in.Op {
			case tableSet, elemDrop, binary.TableInit, binary.TableCopy, binary.TableGrow, binary.TableFill:
				return unsupported("the function %d changes a table", i+m.ImportedFuncs())
			}
		}
	}
	return nil
}
