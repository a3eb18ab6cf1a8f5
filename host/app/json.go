package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// parseJSON parses one JSON document. The result contains the position of each value. It also
// contains all keys of an object, even if a key occurs twice.
func parseJSON(file string, content []byte) (*node, problem.List) {
	if len(bytes.TrimSpace(content)) == 0 {
		return (&node{position: position{file, 1, 1}}).seal(), nil
	}
	r := &jsonReader{file: file, content: content, dec: json.NewDecoder(bytes.NewReader(content)), line: 1, column: 1}
	r.dec.UseNumber()
	root, err := r.read(0)
	refused, ok := errors.AsType[*strictjson.Error](strictjson.Check(content, strictjson.Limits{Depth: maxNesting}))
	switch {
	case ok && refused.Kind != strictjson.Malformed:
		return nil, problem.List{newProblem(positionOf(file, content, refused.Offset), problem.OverLimit, "", "%s", refused.Message)}
	case ok && (err != nil || !root.repeats()):
		return nil, problem.List{newProblem(positionOf(file, content, refused.Offset), problem.Syntax, "", "invalid JSON: %s", refused.Message)}
	case err != nil:
		return nil, problem.List{newProblem(r.positionAt(int(r.dec.InputOffset())), problem.Syntax, "", "invalid JSON")}
	}
	return root, nil
}

type jsonReader struct {
	file    string
	content []byte
	dec     *json.Decoder
	// The fields "line" and "column" are the position of the first byte that was not yet visited.
	// seen is the number of visited bytes.
	seen, line, column int
}

var errNesting = errors.New("values are nested too deeply")

// The method "next" returns the next token, and the position at which it begins. The decoder
// reports only where the previous token ends. Therefore, the method "next" computes where the next
// token begins.
func (r *jsonReader) next() (json.Token, position, error) {
	start := int(r.dec.InputOffset())
	for start < len(r.content) && strings.IndexByte(" \t\r\n,:", r.content[start]) >= 0 {
		start++
	}
	at := r.positionAt(start)
	tok, err := r.dec.Token()
	return tok, at, err
}

// positionAt converts an offset to a position, like positionOf. Each offset must be larger than the
// offset of the previous call. Therefore, positionAt visits each byte only once.
func (r *jsonReader) positionAt(offset int) position {
	for ; r.seen < min(offset, len(r.content)); r.seen++ {
		switch c := r.content[r.seen]; {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(c):
			r.column++
		}
	}
	return position{r.file, r.line, r.column}
}

func (r *jsonReader) read(depth int) (*node, error) {
	tok, at, err := r.next()
	if err != nil {
		return nil, err
	}
	if depth > maxNesting {
		return nil, errNesting
	}
	v := &node{position: at}
	switch tok := tok.(type) {
	case bool:
		v.kind, v.value = boolean, map[bool]string{true: "true", false: "false"}[tok]
	case json.Number:
		v.kind, v.value = number, tok.String()
	case string:
		v.kind, v.value, v.start = text, tok, position{at.file, at.line, at.column + 1}
		raw := r.content[:r.dec.InputOffset()]
		v.verbatim = bytes.HasSuffix(raw, []byte(`"`+tok+`"`))
	case json.Delim:
		if err := r.inside(v, tok, depth); err != nil {
			return nil, err
		}
	}
	return v.seal(), nil
}

// inside reads the content of a list or an object. The opening bracket has already been read.
func (r *jsonReader) inside(v *node, open json.Delim, depth int) error {
	v.kind = list
	if open == '{' {
		v.kind = object
	}
	for r.dec.More() {
		m := member{}
		if v.kind == object {
			tok, at, err := r.next()
			if err != nil {
				return err
			}
			m.position = at
			m.key, _ = tok.(string) // the decoder rejects a key that is not a string
		}
		value, err := r.read(depth + 1)
		if err != nil {
			return err
		}
		if m.value = value; v.kind == object {
			v.members = append(v.members, m)
			continue
		}
		v.items = append(v.items, value)
	}
	_, err := r.dec.Token()
	return err
}
