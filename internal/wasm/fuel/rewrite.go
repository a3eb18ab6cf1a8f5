package fuel

import (
	"fmt"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// Slice is how much fuel yield should return at least, and a good amount to return: no single turn or entry costs
// more, a guest rarely takes longer than a millisecond for it, and the calls of yield cost it next to nothing.
// A guest that gets less may never come further.
const Slice = 1 << 17

// Options say what the rewritten module imports and how far it may grow. The zero value works.
type Options struct {
	// Module and Name are the names to import yield by. Its type is (i64) -> (i64): from the fuel left, which may
	// be below zero, to the fuel from now on, at least Slice. Defaults "toolrun:fuel" and "yield".
	Module, Name string
	// TableElements bounds the elements to which all tables of the module's own may grow together: each may grow by
	// an equal share of what they leave at the start, and if they begin with more, none may grow. Default
	// 1,000,000. Runtimes have a limit for memories but none for tables, and make room for whatever table.grow asks.
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

// Rewrite returns the module with fuel counted and tables bounded. Results, traps, memory and exports stay as they
// were, but that table.grow fails past the bound; so do the names in stack traces. Other custom sections are
// dropped, since they speak of bytes that moved. A module without code of its own stays as it is.
//
// The error tells that the module imports something from Options.Module already, which is the host's alone.
// Rewrite is safe for concurrent use.
func Rewrite(m *binary.Module, opts Options) ([]byte, error) {
	opts = opts.withDefaults()
	for _, i := range m.Imports {
		if i.Module == opts.Module {
			return nil, fmt.Errorf("the module imports %.100q from %.100q, which is the host's alone", i.Name, i.Module)
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
	// yield and charge are the functions that the module gets, fuel the global; firstType is the first of the
	// two types.
	yield, charge, fuel, firstType uint32
	// leaves holds for each function of the module's own how many instructions of it its callers pay.
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
	r.leaves = r.weighLeaves()
	return r
}

// shift is the index that a function has when yield stands among the imported ones.
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

// extend adds entries to a section, which is made where there is none.
func (r *rewriter) extend(sections []binary.Section, id byte, count uint32, entries []byte) []binary.Section {
	for i, s := range sections {
		if s.ID != id {
			continue
		}
		before, old, err := binary.Vector(s.Data)
		if err != nil {
			panic(err) // it was parsed
		}
		sections[i].Data = binary.AppendVector(nil, before+count, old, entries)
		return sections
	}
	return binary.Insert(sections, binary.Section{ID: id, Data: binary.AppendVector(nil, count, entries)})
}

// shifted returns the content of a section with the indexes of functions changed.
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

// references are the places of a section where the index of a function stands.
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

// tables returns the table section with an upper bound to each table.
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
		most := t.Bounds.Min + share
		if t.Bounds.HasMax {
			most = min(most, t.Bounds.Max)
		}
		const hasMax = 1
		out = binary.AppendUint32(append(out, byte(t.Element), hasMax), t.Bounds.Min)
		out = binary.AppendUint32(out, most)
	}
	return out
}

// tableShare is by how many elements each of the tables may grow.
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
