package fuel

import (
	"fmt"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// Slice is the minimum amount of fuel that the function "yield" should return, and also the
// recommended amount. With less fuel, a guest may never make progress, because one iteration or one
// function entry can cost up to a Slice. A guest rarely takes longer than a millisecond to spend a
// Slice, and the cost of calling the function "yield" is negligible.
const Slice = 1 << 17

// Options configure the import and the table growth of the rewritten module. The zero value works.
type Options struct {
	// Module and Name are the names under which the function "yield" is imported. The type of the
	// function is (i64) -> (i64). The argument of "yield" is the remaining fuel, which may be
	// negative. The result of "yield" is the new amount of fuel, which is at least Slice. The
	// default of Module is "toolrun:fuel", and the default of Name is "yield".
	Module, Name string
	// TableElements is the maximum total size of all tables that the module defines, in elements.
	// The initial sizes of the tables count toward TableElements. Each table may grow by an equal
	// share of the remaining elements. If the initial sizes exceed TableElements, no table may
	// grow. The default is 1,000,000. The limit exists because runtimes limit memories but not
	// tables: a runtime allocates any size that table.grow requests.
	TableElements uint32
}

func (o Options) withDefaults() Options {
	if o.Module == "" {
		o.Module = "toolrun:fuel"
	}
	if o.Name == "" {
		o.Name = "yield"
	}
	if o.TableElements == 0 {
		o.TableElements = 1_000_000
	}
	return o
}

// Rewrite returns the module with fuel counting and limited tables. Results, traps, memory, exports
// and the function names in stack traces stay the same. An exception is table.grow, which fails
// beyond the limit. Custom sections other than the name section are dropped, because they refer to
// bytes whose positions have changed. If a module has no functions of its own, Rewrite returns it
// unchanged.
//
// If the module already has imports from Options.Module, Rewrite returns an error, because this
// module name is reserved for the host. Rewrite is safe for concurrent use.
func Rewrite(m *binary.Module, opts Options) ([]byte, error) {
	opts = opts.withDefaults()
	for _, i := range m.Imports {
		if i.Module == opts.Module {
			return nil, fmt.Errorf("the module imports %.100q from %.100q, which is reserved for the host", i.Name, i.Module)
		}
	}
	if len(m.Functions) == 0 {
		return binary.Join(m.Sections), nil
	}
	return newRewriter(m, opts).module(), nil
}

type rewriter struct {
	m    *binary.Module
	opts Options
	// yield, charge and fuel are the indexes of the added functions and the added global. firstType
	// is the index of the first of the two added types.
	yield, charge, fuel, firstType uint32
	// leaves contains, for each function that the module defines, the number of instructions that
	// callers pay for.
	leaves []uint8
}

func newRewriter(m *binary.Module, opts Options) *rewriter {
	r := &rewriter{
		m:         m,
		opts:      opts,
		yield:     uint32(m.ImportedFuncs()),
		charge:    uint32(len(m.Funcs)) + 1,
		fuel:      uint32(len(m.GlobalTypes)),
		firstType: uint32(len(m.Types)),
	}
	r.leaves = r.measureLeaves()
	return r
}

// shift returns the index that a function has after "yield" has been added to the imports.
func (r *rewriter) shift(index uint32) uint32 {
	if index < r.yield {
		return index
	}
	return index + 1
}

func (r *rewriter) module() []byte {
	var sections []binary.Section
	names := []byte(nil)
	for _, s := range r.m.Sections {
		switch s.ID {
		case binary.CustomSection:
			if names == nil {
				names = r.names(s.Data)
			}
		case binary.TableSection:
			sections = append(sections, binary.Section{ID: s.ID, Data: r.tables()})
		case binary.CodeSection:
			sections = append(sections, binary.Section{ID: s.ID, Data: r.code()})
		default:
			sections = append(sections, binary.Section{ID: s.ID, Data: r.shifted(s)})
		}
	}
	sections = r.extend(sections, binary.TypeSection, 2, types)
	sections = r.extend(sections, binary.ImportSection, 1, r.yieldImport())
	sections = r.extend(sections, binary.FunctionSection, 1, binary.AppendUint32(nil, r.firstType+1))
	sections = r.extend(sections, binary.GlobalSection, 1, fuelGlobal)
	if names != nil {
		sections = append(sections, binary.Section{ID: binary.CustomSection, Data: names})
	}
	return binary.Join(sections)
}

// extend adds entries to a section. extend creates the section if it does not exist.
func (r *rewriter) extend(sections []binary.Section, id byte, count uint32, entries []byte) []binary.Section {
	for i, s := range sections {
		if s.ID != id {
			continue
		}
		before, old, err := binary.Vector(s.Data)
		if err != nil {
			panic(err) // Parse accepted it
		}
		sections[i].Data = binary.AppendVector(nil, before+count, old, entries)
		return sections
	}
	return binary.Insert(sections, binary.Section{ID: id, Data: binary.AppendVector(nil, count, entries)})
}

// shifted returns the content of a section with shifted function indexes.
func (r *rewriter) shifted(s binary.Section) []byte {
	var out []byte
	copied := 0
	for _, ref := range r.references(s) {
		out = append(out, s.Data[copied:ref.Offset-s.Offset]...)
		out = binary.AppendUint32(out, r.shift(ref.Index))
		copied = ref.End - s.Offset
	}
	if copied == 0 {
		return s.Data
	}
	return append(out, s.Data[copied:]...)
}

// references returns the function indexes in a section.
func (r *rewriter) references(s binary.Section) []binary.Reference {
	all := r.m.References
	from, to := 0, len(all)
	for from < to && all[from].Offset < s.Offset {
		from++
	}
	for to > from && all[to-1].Offset >= s.Offset+len(s.Data) {
		to--
	}
	return all[from:to]
}

// tables returns the table section with a maximum size for each table.
func (r *rewriter) tables() []byte {
	own := r.m.Tables
	for _, i := range r.m.Imports {
		if i.Kind == binary.ExternTable {
			own = own[1:]
		}
	}
	out := binary.AppendUint32(nil, uint32(len(own)))
	share := r.tableShare(own)
	for _, t := range own {
		maxSize := t.Bounds.Min + share
		if t.Bounds.HasMax {
			maxSize = min(maxSize, t.Bounds.Max)
		}
		const hasMax = 1
		out = binary.AppendUint32(append(out, byte(t.Element), hasMax), t.Bounds.Min)
		out = binary.AppendUint32(out, maxSize)
	}
	return out
}

// tableShare returns the number of elements by which each table may grow.
func (r *rewriter) tableShare(tables []binary.Table) uint32 {
	left, growing := int64(r.opts.TableElements), int64(0)
	for _, t := range tables {
		left -= int64(t.Bounds.Min)
		if !t.Bounds.HasMax || t.Bounds.Max > t.Bounds.Min {
			growing++
		}
	}
	return uint32(max(left, 0) / max(growing, 1))
}

func (r *rewriter) yieldImport() []byte {
	entry := binary.AppendName(nil, r.opts.Module)
	entry = append(binary.AppendName(entry, r.opts.Name), byte(binary.ExternFunc))
	return binary.AppendUint32(entry, r.firstType)
}
