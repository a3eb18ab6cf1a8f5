package app

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/schema"
)

// schemaReader reads JSON Schemas and compiles them.
type schemaReader struct {
	fieldReader
	files *fileReader
}

// The method "schema" returns the JSON Schema that the node n contains, inline or as the path of a
// file. If the key is missing, or if the schema cannot be read, the method returns nil.
func (r *schemaReader) schema(n *node, key string) *node {
	switch {
	case n == nil || n.kind == null:
		return nil
	case n.kind == text:
		return r.schemaFile(n, key)
	case n.kind == object:
		return n
	}
	r.errorf(n.position, problem.WrongType, "", "%s must be a JSON Schema or the path of a schema file, not %s", key, n.kind)
	return nil
}

// compiled compiles a schema and returns it as compact JSON. If the key is missing or the schema
// has errors, the method returns nil. The errors are reported with their positions. If the argument
// "strict" is true, a likely mistake in the schema is an error, otherwise a warning.
func (r *schemaReader) compiled(root *node, strict bool) json.RawMessage {
	if root == nil || !r.isJSON(root) {
		return nil
	}
	var b bytes.Buffer
	root.appendJSON(&b)
	if !r.files.spend(root.position, b.Len()) {
		return nil
	}
	s, err := schema.Compile(b.Bytes(), schema.Options{Strict: strict})
	if err != nil {
		r.schemaErrors(root, err)
		return nil
	}
	broken := false
	for _, e := range s.Mistakes() {
		if strict && !e.Harmless {
			broken = true
			r.errorf(root.at(e.Pointer), problem.BadSchema, e.Hint, "%s", e.Message)
			continue
		}
		r.warnf(root.at(e.Pointer), problem.SchemaMistake, e.Hint, "%s", e.Message)
	}
	if broken {
		return nil
	}
	return b.Bytes()
}

// schemaFile reads the schema in the file whose path is the value of the node n.
func (r *schemaReader) schemaFile(n *node, key string) *node {
	if strings.HasPrefix(strings.TrimSpace(n.value), "{") {
		r.errorf(n.position, problem.WrongType, "write the JSON without `|` and without quotes around it", "the value of %s is a string that contains JSON", key)
		return nil
	}
	if r.files.fsys == nil {
		r.errorf(n.position, problem.BadValue, "write the schema inline", "the value of %s is a path, but this document contains no files", key)
		return nil
	}
	file, ok := r.files.resolve(n, path.Dir(n.file))
	if !ok {
		return nil
	}
	root := r.files.document(file, n.position)
	if root != nil && root.kind != object {
		r.errorf(root.position, problem.BadSchema, "", "a JSON Schema must be an object, not %s", root.kind)
		return nil
	}
	return root
}

// isJSON reports whether a schema can be encoded as JSON. Each value that cannot be encoded is
// reported as a problem.
func (r *schemaReader) isJSON(n *node) bool {
	ok := true
	switch n.kind {
	case number:
		if ok = jsonNumber().MatchString(n.value); !ok {
			r.errorf(n.position, problem.BadSchema, "write a decimal number, or put the value in quotes if it is a string", "the value %s is not a JSON number", problem.Quote(n.value))
		}
	case object:
		ok = r.once(n)
	}
	n.each(func(v *node) { ok = r.isJSON(v) && ok })
	return ok
}

// schemaErrors reports each error of a schema at the position to which the JSON Pointer of the
// error refers. An error without a JSON Pointer is reported at the position of the schema.
func (r *schemaReader) schemaErrors(root *node, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			r.schemaErrors(root, e)
		}
		return
	}
	if e, ok := err.(*schema.Error); ok {
		r.errorf(root.at(e.Pointer), problem.BadSchema, e.Hint, "%s", e.Message)
		return
	}
	r.errorf(root.position, problem.BadSchema, "", "%s", err)
}
