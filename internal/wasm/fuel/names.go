package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// Rewrite keeps the following subsections of the name section. The names of locals are dropped,
// because no stack trace shows them.
const (
	moduleName    = 0
	functionNames = 1
)

// names returns the content of a name section with shifted function indexes. names returns nil for
// any other custom section. Parse has already checked the content of the section.
func (r *rewriter) names(data []byte) []byte {
	title, rest := name(data)
	if string(title) != "name" {
		return nil
	}
	out := binary.AppendName(nil, "name")
	for len(rest) > 0 {
		id := rest[0]
		size, n := binary.Uint32(rest[1:])
		part := rest[1+n:][:size]
		rest = rest[1+n:][size:]
		switch id {
		case functionNames:
			part = r.functionNames(part)
		case moduleName:
		default:
			continue
		}
		out = binary.AppendUint32(append(out, id), uint32(len(part)))
		out = append(out, part...)
	}
	return out
}

func (r *rewriter) functionNames(part []byte) []byte {
	count, n := binary.Uint32(part)
	rest := part[n:]
	out := binary.AppendUint32(make([]byte, 0, len(part)+len(part)/8), count)
	for range count {
		index, n := binary.Uint32(rest)
		text, after := name(rest[n:])
		out = binary.AppendName(binary.AppendUint32(out, r.shift(index)), string(text))
		rest = after
	}
	return out
}

// name splits data into the name at its start and the remaining data.
func name(data []byte) (text, rest []byte) {
	size, n := binary.Uint32(data)
	return data[n:][:size], data[n:][size:]
}
