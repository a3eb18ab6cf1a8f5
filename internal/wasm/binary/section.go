package binary

import "bytes"

// The identifiers of sections.
const (
	CustomSection    byte = 0
	TypeSection      byte = 1
	ImportSection    byte = 2
	FunctionSection  byte = 3
	TableSection     byte = 4
	MemorySection    byte = 5
	GlobalSection    byte = 6
	ExportSection    byte = 7
	StartSection     byte = 8
	ElementSection   byte = 9
	CodeSection      byte = 10
	DataSection      byte = 11
	DataCountSection byte = 12
)

// sectionNames contains the names of sections by their identifiers.
var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global", "export",
	"start", "element", "code", "data", "data count"}

// sectionOrder returns the position of a section relative to other sections. Sections are ordered
// by identifier, except for the data count section. The data count section was added to the format
// later than all other sections, and comes before the code section.
func sectionOrder(id byte) int {
	if id == DataCountSection {
		return 2*int(CodeSection) - 1
	}
	return 2 * int(id)
}

// maxSections is the maximum number of sections of a module, including custom sections. Compilers
// emit at most a few dozen sections.
const maxSections = 1_000

// header is the first 8 bytes of every module: the magic number and version 1.
var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// Section is an encoded section of a module. Core specification 5.5.2.
type Section struct {
	ID byte
	// Offset is the offset of Data in the parsed module, in bytes. Join ignores it.
	Offset int
	// Data is the content of the section without the identifier and the size. Data is a part of the
	// module's bytes, not a copy.
	Data []byte
}

// Sections splits a module into its sections without checking their content. Join is the inverse.
// An error of Sections is of type *Error.
func Sections(wasm []byte) ([]Section, error) {
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	var sections []Section
	for at := len(header); at < len(wasm); {
		id, start := wasm[at], at
		if len(sections) == maxSections {
			return nil, errorAt(OverLimit, start, "the module has more than %d sections", maxSections)
		}
		size, n := Uint32(wasm[at+1:])
		if n == 0 {
			return nil, errorAt(Truncated, start, "the module ends inside a section size")
		}
		at += 1 + n
		if uint64(size) > uint64(len(wasm)-at) {
			return nil, errorAt(Truncated, start, "the module is truncated: section %d declares %d bytes, but only %d bytes are left", id, size, len(wasm)-at)
		}
		sections = append(sections, Section{ID: id, Offset: at, Data: wasm[at : at+int(size)]})
		at += int(size)
	}
	return sections, nil
}

// Join returns a module that consists of the given sections in the given order.
func Join(sections []Section) []byte {
	size := len(header)
	for _, s := range sections {
		size += 1 + 5 + len(s.Data)
	}
	wasm := append(make([]byte, 0, size), header...)
	for _, s := range sections {
		wasm = AppendUint32(append(wasm, s.ID), uint32(len(s.Data)))
		wasm = append(wasm, s.Data...)
	}
	return wasm
}

// Insert returns a copy of sections with s added at the position that the format requires. Insert
// replaces an existing section with the same identifier.
func Insert(sections []Section, s Section) []Section {
	for i, old := range sections {
		if old.ID == s.ID {
			return append(append(append([]Section{}, sections[:i]...), s), sections[i+1:]...)
		}
		if old.ID != CustomSection && sectionOrder(old.ID) > sectionOrder(s.ID) {
			return append(append(append([]Section{}, sections[:i]...), s), sections[i:]...)
		}
	}
	return append(append([]Section{}, sections...), s)
}

// Vector splits the content of a section into the number of entries and the encoded entries. Vector
// cannot be used for custom sections, the start section and the data count section. The error is an
// *Error with an offset in data.
func Vector(data []byte) (count uint32, entries []byte, err error) {
	count, n := Uint32(data)
	if n == 0 {
		return 0, nil, errorAt(Malformed, 0, "the entry count of a section is invalid")
	}
	return count, data[n:], nil
}

// AppendVector appends a vector of count entries. The encoding of the entries is the concatenation
// of parts.
func AppendVector(to []byte, count uint32, parts ...[]byte) []byte {
	to = AppendUint32(to, count)
	for _, part := range parts {
		to = append(to, part...)
	}
	return to
}

// checkHeader checks the magic number and the version. Callers often pass another kind of file by
// mistake, so the error names the kind of the file.
func checkHeader(wasm []byte) *Error {
	switch {
	case bytes.HasPrefix(wasm, header):
		return nil
	case len(wasm) == 0:
		return errorAt(NotWasm, 0, "the file is empty; want a WebAssembly module")
	case len(wasm) < len(header) && bytes.HasPrefix(header, wasm):
		return errorAt(Truncated, len(wasm), "the module is truncated in the header of %d bytes", len(header))
	case bytes.HasPrefix(wasm, header[:4]):
		return checkVersion(wasm[4:])
	}
	return errorAt(NotWasm, 0, "the file is not a WebAssembly module but %s", guess(wasm))
}

func checkVersion(version []byte) *Error {
	if len(version) < 4 {
		return errorAt(Truncated, 4, "the module is truncated in the header of %d bytes", len(header))
	}
	// Components have the version 13 and the layer 1. Component model, Binary.md: "preamble".
	if version[2] == 1 && version[3] == 0 {
		return errorAt(Component, 4, "the file is a component; build a core module (a reactor, without wasm-component-ld or \"wasm-tools component new\")")
	}
	v := uint32(version[0]) | uint32(version[1])<<8 | uint32(version[2])<<16 | uint32(version[3])<<24
	return errorAt(Version, 4, "unknown version %d of the WebAssembly binary format; only version 1 is supported", v)
}

func guess(data []byte) string {
	for _, known := range []struct{ magic, name string }{
		{"\x1f\x8b", "gzip; unpack it first"},
		{"\x28\xb5\x2f\xfd", "zstd; unpack it first"},
		{"PK\x03\x04", "a zip archive; unpack it first"},
		{"\x7fELF", "a native ELF program; compile it for wasm32"},
		{"\xcf\xfa\xed\xfe", "a native Mach-O program; compile it for wasm32"},
		{"MZ", "a native Windows program; compile it for wasm32"},
		{"BC\xc0\xde", "LLVM bitcode; link it with wasm-ld"},
		{"!<arch>\n", "an object archive; link it with wasm-ld"},
		{"(module", "WebAssembly text; translate it with wat2wasm"},
		{"(component", "WebAssembly text; translate it with wat2wasm"},
		{"version https://git-lfs", "a Git LFS pointer; fetch the file"},
	} {
		if bytes.HasPrefix(data, []byte(known.magic)) {
			return known.name
		}
	}
	sample := data[:min(len(data), 512)]
	for _, b := range sample {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return "binary data of unknown type"
		}
	}
	return "text"
}
