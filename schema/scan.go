package schema

import (
	"net/url"
	"strings"
)

// These are the limits on the text of a schema. The cost of compiling depends partly on the product
// of these limits.
const (
	maxSchemaDepth = 100  // nested arrays and objects
	maxSchemaKeys  = 4096 // the maximum number of members of one object
	maxSchemas     = 4096 // the maximum number of schemas within a schema
	maxNamed       = 512  // the schemas with a name, or under an unknown keyword
)

// The value of a keyword can contain schemas in one of these forms.
const (
	holdsOne   = 1 << iota // a schema
	holdsList              // an array of schemas
	holdsNamed             // an object whose members are schemas
)

// schemaKeywords lists the keywords that contain schemas. Each keyword has the number of the first
// draft that defines it.
var schemaKeywords = map[string]struct{ holds, since int }{
	"not":                   {holdsOne, 4},
	"if":                    {holdsOne, 7},
	"then":                  {holdsOne, 7},
	"else":                  {holdsOne, 7},
	"allOf":                 {holdsList, 4},
	"anyOf":                 {holdsList, 4},
	"oneOf":                 {holdsList, 4},
	"properties":            {holdsNamed, 4},
	"patternProperties":     {holdsNamed, 4},
	"additionalProperties":  {holdsOne, 4},
	"unevaluatedProperties": {holdsOne, 2019},
	"propertyNames":         {holdsOne, 6},
	"dependencies":          {holdsNamed, 4},
	"dependentSchemas":      {holdsNamed, 2019},
	"items":                 {holdsOne | holdsList, 4},
	"prefixItems":           {holdsList, 2020},
	"additionalItems":       {holdsOne, 4},
	"unevaluatedItems":      {holdsOne, 2019},
	"contains":              {holdsOne, 6},
	"contentSchema":         {holdsOne, 2019},
	"definitions":           {holdsNamed, 4},
	"$defs":                 {holdsNamed, 2019},
}

var refKeywords = []string{"$ref", "$dynamicRef", "$recursiveRef"}

// documentURL is the base URL of every schema. Errors can quote the base URL, so it does not
// contain paths of the host.
const documentURL = "mem:///schema"

// scanner walks over the text of a schema before it is compiled. scanner rejects schemas that would
// be expensive to compile, finds references to other documents, and collects data for the importer.
type scanner struct {
	draft *draft
	root  any
	errs  Errors

	seen      map[string]bool   // the pointers of the visited schemas
	resources map[string]string // maps the URL of a named schema, or of the document, to its pointer
	names     map[string]string // the reverse
	anchors   []string          // the pointers of schemas with a $dynamicAnchor
	refs      []reference
	named     int
	maxStrays int
	targets   []string // the pointers of referenced schemas under unknown keywords
	mistakes  Errors
	strays    int // the number of JSON values in schemas under unknown keywords that are reached only by a $ref
	patterns  patternBudget
	spelled   map[string]string // the translated patterns, by the pointers of their schemas
}

// reference is a $ref or a similar keyword, with its base URL.
type reference struct {
	pointer string
	url     *url.URL
	owner   map[string]any
	keyword string
}

// scanSchema walks over the given root schema. scanSchema normalizes the escapes in references,
// because the library would copy a schema for each spelling of the same fragment.
func scanSchema(root any, d *draft) *scanner {
	s := &scanner{
		draft: d, root: root,
		seen:      map[string]bool{},
		resources: map[string]string{},
		names:     map[string]string{},
		spelled:   map[string]string{},
		maxStrays: 2 * size(root), // enough if schemas under unknown keywords are not nested
	}
	base, _ := url.Parse(documentURL)
	s.name(base, "")
	s.schema(root, "", base)
	for i := 0; i < len(s.refs) && !s.exhausted(); i++ { // resolving a reference can find more references
		s.resolve(s.refs[i])
	}
	s.usedKeywords()
	if s.exhausted() {
		s.fail("", "the schema has more than %d subschemas, or more than %d subschemas with `$id`, with an anchor or below unknown keywords", maxSchemas, maxNamed)
	}
	return s
}

func (s *scanner) exhausted() bool {
	return len(s.seen) > maxSchemas || s.named > maxNamed || s.strays > s.maxStrays
}

// schema scans the schema at the given pointer, unless that schema was scanned before.
func (s *scanner) schema(value any, pointer string, base *url.URL) {
	if s.exhausted() || s.seen[pointer] {
		return
	}
	s.seen[pointer] = true
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	base = s.identify(object, pointer, base)
	s.references(object, pointer, base)
	s.oddities(object, pointer)
	if pattern, ok := object["pattern"].(string); ok {
		s.pattern(pattern, pointer+"/pattern")
		if translated := translate(pattern); translated != pattern { // the library also compiles this value
			object["pattern"] = translated
			s.spelled[pointer] = pattern
		}
	}
	for _, keyword := range sortedKeys(object) {
		s.keyword(keyword, object[keyword], pointer, base)
	}
}

// keyword scans the schemas in the value of a keyword.
func (s *scanner) keyword(keyword string, value any, pointer string, base *url.URL) {
	known := schemaKeywords[keyword]
	if known.holds == 0 || s.draft.version < known.since {
		return
	}
	holds := known.holds
	at := join(pointer, keyword)
	switch value := value.(type) {
	case bool:
		if holds&holdsOne != 0 {
			s.schema(value, at, base)
		}
	case []any:
		if holds&holdsList == 0 {
			return
		}
		for i, element := range value {
			s.schema(element, joinIndex(at, i), base)
		}
	case map[string]any:
		if holds&holdsOne != 0 {
			s.schema(value, at, base)
			return
		}
		for _, name := range sortedKeys(value) {
			if keyword == "patternProperties" {
				s.pattern(name, join(at, name))
			}
			s.schema(value[name], join(at, name), base)
		}
	}
}

// identify records the $id and the anchors of a schema. identify returns the base URL for the
// schema's subschemas.
func (s *scanner) identify(object map[string]any, pointer string, base *url.URL) *url.URL {
	if _, ok := object["$anchor"]; ok {
		s.named++
	}
	if _, ok := object["$dynamicAnchor"]; ok {
		s.named++
		s.anchors = append(s.anchors, pointer)
	}
	id, ok := object[s.draft.id].(string)
	if !ok || s.draft.refAlone() && object["$ref"] != nil {
		return base
	}
	s.named++
	parsed, err := base.Parse(id)
	if err != nil {
		s.fail(join(pointer, s.draft.id), "the %s is not a URL", s.draft.id)
		return base
	}
	if strings.HasPrefix(id, "#") {
		return base // an anchor, in draft 7 and earlier drafts
	}
	bare := *parsed
	bare.Fragment, bare.RawFragment = "", ""
	if !selfReferable(&bare) {
		s.fail(join(pointer, s.draft.id), "references cannot resolve to the URL in %s", s.draft.id)
		return base
	}
	s.name(&bare, pointer)
	return &bare
}

// selfReferable reports whether the reference "#" in a schema with the given URL resolves to the
// schema. If the URL ends in an empty query, the reference does not resolve, and the library would
// loop forever.
func selfReferable(u *url.URL) bool {
	again, err := u.Parse("#")
	return err == nil && again.String() == u.String()
}

func (s *scanner) name(u *url.URL, pointer string) {
	if other, taken := s.resources[u.String()]; taken && other != pointer {
		s.fail(join(pointer, s.draft.id), "another schema has the same %s", s.draft.id)
		return
	}
	s.resources[u.String()] = pointer
	s.names[pointer] = u.String()
}

// resource returns the URL of the named schema that contains the schema at pointer.
func (s *scanner) resource(pointer string) string {
	for {
		if name, ok := s.names[pointer]; ok {
			return name
		}
		pointer = pointer[:max(0, strings.LastIndexByte(pointer, '/'))]
	}
}
