package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/internal/strictjson"
)

var seeds = []string{
	``, `null`, ` [1, -0.5e+3, "x"] `, `{"a":{"b":[true,false,null]}}`, `{"a":1,"\u0061":2}`,
	`"\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"", `1e309`, `1 2`, `{"":0,"__proto__":1,"\u0000":2}`, `[[[[`, `"\`, `{"a"`, "\ufeff1",
	`{"b":[],"a":{"\u2028":"line\nbreak"},"ü":"\u2029 / \/ \ud83d\ude00"}`, `[ true , false , null , "" , -0.0E-1 , {} ]`,
}

// FuzzCheck compares Check with encoding/json on all texts for which both define a result.
func FuzzCheck(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := strictjson.Check(text, strictjson.Limits{})
		want := json.Valid(text) && utf8.Valid(text)
		if err == nil && !want {
			t.Fatalf("Check accepted invalid JSON or invalid UTF-8")
		}
		e, _ := errors.AsType[*strictjson.Error](err)
		if err != nil && want && e.Kind == strictjson.Malformed && !repeatsName(text) && !loneSurrogate(text) {
			t.Fatalf("Check = %v, but encoding/json accepts it", err)
		}
		if err == nil && (repeatsName(text) || loneSurrogate(text)) {
			t.Fatalf("Check accepted a duplicate name or a lone surrogate")
		}
	})
}

// FuzzLikeEncodingJSON checks that Decode and Encode have the same results as encoding/json.
func FuzzLikeEncodingJSON(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := strictjson.Decode(text, strictjson.Limits{})
		if err != nil {
			return
		}
		var want any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("encoding/json rejects the text: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Decode (-want +got):\n%s", diff)
		}
		var encoded bytes.Buffer
		enc := json.NewEncoder(&encoded)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		if text, err := strictjson.Encode(got); err != nil || string(text)+"\n" != encoded.String() {
			t.Fatalf("Encode = %s, %v; want %s", text, err, encoded.String())
		}
	})
}

// FuzzRoundTrip checks that a text that was decoded and encoded once does not change when it is
// decoded and encoded again.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := strictjson.Decode(text, strictjson.Limits{})
		if err != nil {
			return
		}
		once, err := strictjson.Encode(tree)
		if err != nil {
			t.Fatalf("Encode of a decoded value: %v", err)
		}
		again, err := strictjson.Decode(once, strictjson.Limits{})
		if err != nil {
			t.Fatalf("Decode(%s): %v", once, err)
		}
		if diff := cmp.Diff(tree, again); diff != "" {
			t.Fatalf("the value changed:\n%s", diff)
		}
		if twice, err := strictjson.Encode(strictjson.Clone(again)); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Encode twice = %s, %v; want %s", twice, err, once)
		}
	})
}

// repeatsName reports whether valid JSON has a duplicate name. repeatsName uses the tokens of
// encoding/json.
func repeatsName(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var open []map[string]bool // nil for an array
	isName := false
	for {
		token, err := dec.Token()
		if err != nil {
			return err != io.EOF && len(open) > 0
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
			isName = true
			continue
		case json.Delim('['):
			open = append(open, nil)
			isName = false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if isName {
				names := open[len(open)-1]
				if names[token.(string)] {
					return true
				}
				names[token.(string)] = true
				isName = false
				continue
			}
		}
		isName = len(open) > 0 && open[len(open)-1] != nil
	}
}

// loneSurrogate detects lone surrogates, which encoding/json silently replaces with U+FFFD.
// loneSurrogate counts U+FFFD in the decoded strings and in the text, where it can be literal or
// escaped, and compares the counts.
func loneSurrogate(text []byte) bool {
	written := bytes.Count(text, []byte("\ufffd"))
	read := 0
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if s, ok := token.(string); ok {
			read += bytes.Count([]byte(s), []byte("\ufffd"))
		}
	}
	return read != written+escapedReplacements(text)
}

// escapedReplacements counts \ufffd in valid JSON. A backslash always consumes the byte after it.
func escapedReplacements(text []byte) int {
	n := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if bytes.EqualFold(text[i:min(len(text), i+6)], []byte(`\ufffd`)) {
			n++
		}
		i++
	}
	return n
}
