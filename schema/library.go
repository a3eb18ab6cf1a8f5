package schema

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// compileDocument compiles a scanned schema and returns its root and all its nodes.
func compileDocument(s *scanner) (root *node, all []*node, err error) {
	text, err := strictjson.Encode(s.root)
	if err != nil {
		return nil, nil, err
	}
	compiler := newCompiler()
	if err := compiler.AddResource(documentURL, strings.NewReader(string(text))); err != nil {
		return nil, nil, err
	}
	compiled, err := compiler.Compile(documentURL)
	if err != nil {
		return nil, nil, err
	}
	im := &importer{scan: s, nodes: map[*jsonschema.Schema]*node{}}
	root = im.node(compiled, "schema")
	// The library does not link a schema that is referenced only by a $dynamicRef.
	for _, pointer := range s.anchors {
		anchored, err := compiler.Compile(documentURL + "#" + pointerFragment(pointer))
		if err != nil {
			return nil, nil, err
		}
		im.node(anchored, "schema")
	}
	im.link(root)
	return root, im.order, nil
}

// compileMeta compiles the metaschema of a draft, which the library contains.
func compileMeta(d *draft) *Schema {
	compiled, err := newCompiler().Compile(d.url)
	if err != nil {
		panic(fmt.Sprintf("schema: metaschema %s: %v", d.url, err))
	}
	im := &importer{nodes: map[*jsonschema.Schema]*node{}}
	root := im.node(compiled, "schema")
	im.link(root)
	return &Schema{root: root, dynamic: true, limits: Limits{Depth: maxSchemaDepth}.withDefaults()}
}

// endless is the message for a schema that applies itself to the same value, directly or
// indirectly.
const endless = "the schema refers to itself infinitely for the same value"

// libraryText returns the library's reason for rejecting a schema, without the library's prefix and
// documentURL.
func libraryText(err error) string {
	if inner, ok := errors.AsType[*jsonschema.SchemaError](err); ok {
		err = inner.Err
	}
	if _, ok := errors.AsType[jsonschema.InfiniteLoopError](err); ok {
		return endless
	}
	text := strings.ReplaceAll(err.Error(), documentURL, "")
	return "cannot compile the schema: " + strings.TrimPrefix(text, "jsonschema: ")
}

var errRemote = errors.New("a schema refers to another document")

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	// The library's default loader would read files and use other loaders that are registered in
	// the process.
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errRemote }
	return c
}
