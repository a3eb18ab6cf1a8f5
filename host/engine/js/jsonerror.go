package js

import "strconv"

// Tools read the error messages of JSON.parse. Therefore, these messages are the same as in V8.

// contextUnits is the number of UTF-16 code units that an error quotes before and after a position.
const contextUnits = 10

func (p *textParser) fail(message string) { panic(p.realm.newError("SyntaxError", message)) }

// failAt throws an error. The error contains the current position.
func (p *textParser) failAt(message string) { p.fail(message + strconv.Itoa(p.units())) }

// units returns the current position as a number of UTF-16 code units.
func (p *textParser) units() int {
	n := 0
	for i := 0; i < p.pos; i++ {
		switch c := p.text[i]; {
		case c >= 0xF0:
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}

// unexpected throws an error for the character at the current position.
func (p *textParser) unexpected() {
	switch c := p.peek(); {
	case p.pos >= len(p.text):
		p.fail("Unexpected end of JSON input")
	case c == '-' || isDecimal(c):
		p.failAt("Unexpected number in JSON at position ")
	case c == '"':
		p.failAt("Unexpected string in JSON at position ")
	}
	switch p.text {
	case "NaN", "Infinity", "undefined", "[object Object]":
		p.fail(`"` + p.text + `" is not valid JSON`)
	}
	at, length := p.units(), p.source.Length()
	from, to, before, after := 0, length, "", ""
	if length >= 2*contextUnits+1 {
		if at >= contextUnits {
			from, before = at-contextUnits, "..."
		}
		if at < contextUnits || at < length-contextUnits {
			to, after = at+contextUnits, "..."
		}
	}
	token := p.source.Substring(at, at+1).String()
	p.fail("Unexpected token '" + token + "', " + before + `"` + p.source.Substring(from, to).String() + `"` + after + " is not valid JSON")
}
