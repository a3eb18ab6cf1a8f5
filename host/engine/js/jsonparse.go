package js

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// guestParse implements JSON.parse for the guest. goja's own function has three defects: its errors
// quote Go types, it confuses an unpaired surrogate with a replacement character, and it rejects
// numbers outside the range of a double.
func guestParse(r *realm, call goja.FunctionCall) goja.Value {
	if _, ok := call.Argument(0).(*goja.Symbol); ok {
		panic(r.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	source, ok := call.Argument(0).ToString().(goja.String)
	if !ok { // goja does not convert undefined and null to a string
		source = r.vm.ToValue(call.Argument(0).String()).(goja.String)
	}
	p := &textParser{realm: r, source: source, text: source.String()}
	if strings.ContainsRune(p.text, utf8.RuneError) && hasLoneSurrogate(source) {
		p.text = withSurrogates(source)
	}
	value := p.document()
	reviver, ok := call.Argument(1).(*goja.Object)
	switch {
	case !ok || !isCallable(reviver):
		return value
	case !p.special:
		return nativeParse(r)(goja.FunctionCall{Arguments: []goja.Value{source, reviver}})
	}
	holder := r.vm.NewObject()
	define(holder, "", value)
	return revive(r, reviver, holder, "", 0)
}

func isCallable(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}

// textParser parses a JSON text that the guest passes. The text is UTF-8 with one exception: an
// unpaired surrogate is encoded as three bytes.
type textParser struct {
	realm  *realm
	source goja.String
	text   string
	pos    int
	depth  int
	values int

	special bool // true if the text contains values that goja's JSON.parse rejects
}

func (p *textParser) document() goja.Value {
	value := p.value()
	if p.skipSpace(); p.pos < len(p.text) {
		p.failAt("Unexpected non-whitespace character after JSON at position ")
	}
	return value
}

func (p *textParser) value() goja.Value {
	p.values++
	if p.values%checkEvery == 0 && p.realm.ctx.Err() != nil {
		return goja.Undefined() // the guest stops at its next instruction
	}
	vm := p.realm.vm
	p.skipSpace()
	switch c := p.peek(); {
	case c == '"':
		return p.str()
	case c == '{':
		return p.nested(p.object)
	case c == '[':
		return p.nested(p.array)
	case c == '-' || isDecimal(c):
		return p.number()
	case c == 't':
		p.word("true")
		return vm.ToValue(true)
	case c == 'f':
		p.word("false")
		return vm.ToValue(false)
	case c == 'n':
		p.word("null")
		return goja.Null()
	}
	p.unexpected()
	return nil
}

func (p *textParser) nested(parse func() goja.Value) goja.Value {
	if p.depth++; p.depth > maxParseNesting {
		p.fail("the JSON text is nested deeper than " + strconv.Itoa(maxParseNesting) + " levels")
	}
	p.pos++ // the bracket
	value := parse()
	p.depth--
	return value
}

func (p *textParser) object() goja.Value {
	object := p.realm.vm.NewObject()
	if p.skipSpace(); p.peek() == '}' {
		p.pos++
		return object
	}
	expected := "Expected property name or '}' in JSON at position "
	for {
		if p.skipSpace(); p.peek() != '"' {
			p.failAt(expected)
		}
		name := p.str()
		if p.skipSpace(); p.peek() != ':' {
			p.failAt("Expected ':' after property name in JSON at position ")
		}
		p.pos++
		p.member(object, name, p.value())
		p.skipSpace()
		switch p.peek() {
		case ',':
			p.pos++
			expected = "Expected double-quoted property name in JSON at position "
			continue
		case '}':
			p.pos++
			return object
		}
		p.failAt("Expected ',' or '}' after property value in JSON at position ")
	}
}

// halfName sets a member whose name contains an unpaired surrogate. A Go string cannot represent
// such a name.
var halfName = lazyProgram("toolrun:json", "(function (object, name, value) { object[name] = value })", false)

func (p *textParser) member(object *goja.Object, name goja.String, value goja.Value) {
	text := name.String()
	if !strings.ContainsRune(text, utf8.RuneError) || !hasLoneSurrogate(name) {
		define(object, text, value)
		return
	}
	set, err := p.realm.vm.RunProgram(halfName())
	must(err)
	p.realm.call(set.(*goja.Object), goja.Undefined(), object, name, value)
}

func (p *textParser) array() goja.Value {
	var items []any
	if p.skipSpace(); p.peek() == ']' {
		p.pos++
		return p.realm.vm.NewArray()
	}
	for {
		items = append(items, p.value())
		p.skipSpace()
		switch p.peek() {
		case ',':
			p.pos++
			continue
		case ']':
			p.pos++
			return p.realm.vm.NewArray(items...)
		}
		p.failAt("Expected ',' or ']' after array element in JSON at position ")
	}
}

func (p *textParser) number() goja.Value {
	start := p.pos
	if p.peek() == '-' {
		if p.pos++; !isDecimal(p.peek()) {
			p.failAt("No number after minus sign in JSON at position ")
		}
	}
	if p.peek() == '0' {
		if p.pos++; isDecimal(p.peek()) {
			p.failAt("Unexpected number in JSON at position ")
		}
	}
	p.digits()
	if p.peek() == '.' {
		if p.pos++; !isDecimal(p.peek()) {
			p.failAt("Unterminated fractional number in JSON at position ")
		}
		p.digits()
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !isDecimal(p.peek()) {
			p.failAt("Exponent part is missing a number in JSON at position ")
		}
		p.digits()
	}
	token := p.text[start:p.pos]
	if len(token) <= maxSafeDigits && !strings.ContainsAny(token, ".eE") && !strings.HasPrefix(token, "-0") {
		n, _ := strconv.ParseInt(token, 10, 64)
		return p.realm.vm.ToValue(n)
	}
	f, err := strconv.ParseFloat(token, 64) // f is infinite if the number is out of range
	p.special = p.special || err != nil
	return p.realm.vm.ToValue(f)
}

func (p *textParser) digits() {
	for isDecimal(p.peek()) {
		p.pos++
	}
}

func isDecimal(c byte) bool { return '0' <= c && c <= '9' }

func (p *textParser) word(word string) {
	for i := range len(word) {
		if p.peek() != word[i] {
			p.unexpected()
		}
		p.pos++
	}
}

// peek returns the next byte. At the end of the text, it returns 0.
func (p *textParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *textParser) skipSpace() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}
