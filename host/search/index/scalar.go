package index

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// kind is the JSON type of a scalar.
type kind byte

const (
	none kind = iota // not a scalar
	null
	boolean
	number
	text
)

// scalar is a JSON value that is not an array or an object. Two scalars are equal if their types
// and values are equal: 3 equals 3.0, but 3 does not equal "3". Scalars are comparable with the
// operator "==".
type scalar struct {
	kind kind
	num  float64 // the value of a number, or 1 for true
	// text is a string, or the digits of a large integer. The type float64 cannot represent every
	// large integer.
	text string
}

// exactIntegers is the limit below which float64 represents every integer.
const exactIntegers = 1 << 53

// scalarOf returns the scalar for a value that was decoded from JSON. For an array, an object and a
// value of an unknown type, the kind is none.
func scalarOf(value any) scalar {
	switch v := value.(type) {
	case nil:
		return scalar{kind: null}
	case bool:
		if v {
			return scalar{kind: boolean, num: 1}
		}
		return scalar{kind: boolean}
	case string:
		return scalar{kind: text, text: v}
	case json.Number:
		return numberOf(string(v))
	case float64:
		return numberOf(strconv.FormatFloat(v, 'g', -1, 64))
	case int:
		return numberOf(strconv.Itoa(v))
	case int64:
		return numberOf(strconv.FormatInt(v, 10))
	}
	return scalar{}
}

// numberOf returns the scalar for a JSON number. Integers are compared exactly. Fractions are
// compared as float64.
func numberOf(literal string) scalar {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return scalar{}
	}
	s := scalar{kind: number, num: f}
	switch {
	case f == 0:
		s.num = 0 // -0 equals 0
	case f >= exactIntegers || f <= -exactIntegers:
		if exact, ok := new(big.Rat).SetString(literal); ok && exact.IsInt() {
			s.text = exact.Num().String()
		}
	}
	return s
}

// compare returns the order of two numbers, or of two strings.
func compare(a, b scalar) int {
	if a.kind == text || a.text == b.text {
		return cmp.Or(cmp.Compare(a.num, b.num), strings.Compare(a.text, b.text))
	}
	if order := cmp.Compare(a.num, b.num); order != 0 {
		return order
	}
	x, okX := new(big.Int).SetString(a.text, 10)
	y, okY := new(big.Int).SetString(b.text, 10)
	if !okX || !okY {
		return 0
	}
	return x.Cmp(y)
}
