package binary

// moduleReader is a reader together with the module that it has parsed so far. The parsers of all
// sections share one moduleReader.
type moduleReader struct {
	reader
	lim Limits
	m   *Module
}

// funcIndex reads the index of a function and records its position in Module.References.
func (r *moduleReader) funcIndex() uint32 {
	start := r.at
	i := r.index("function", len(r.m.Funcs))
	r.m.References = append(r.m.References, Reference{Offset: start, End: r.at, Index: i})
	return i
}

// constant reads a constant expression. The compiler checks that the expression leaves one value of
// the right type, so constant does not.
func (r *moduleReader) constant() Const {
	c := Const{Offset: r.at}
	var first byte
	for n := 0; r.err == nil; n++ {
		start := r.at
		op := r.byte()
		if n == 0 {
			first = op
		}
		switch op {
		case opEnd:
			c.Code = r.wasm[c.Offset:r.at]
			c.IsNumber, c.IsGlobal = n == 1 && first == opI32Const, n == 1 && first == opGlobalGet
			return c
		case opI32Const:
			c.Number = r.signed(32)
		case opI64Const:
			r.signed(64)
		case opF32Const:
			r.bytes(4)
		case opF64Const:
			r.bytes(8)
		case opGlobalGet:
			c.Global = r.index("global", len(r.m.GlobalTypes))
		case opRefNull:
			r.refType()
		case opRefFunc:
			r.funcIndex()
		case opVector:
			r.vectorConstant(start)
		case opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul: // opcodes of extended constant expressions
		default:
			r.reject(UnknownOpcode, start, "a constant expression contains instruction %#02x; use only constants, global.get and integer add, sub and mul", op)
		}
	}
	return Const{}
}

func (r *moduleReader) vectorConstant(start int) {
	if op := r.byte(); op != vecConst {
		r.reject(UnknownOpcode, start, "a constant expression contains vector instruction %#02x; use only v128.const", op)
	}
	r.bytes(16)
}
