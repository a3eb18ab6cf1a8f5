package schema

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// importer converts the library's compiled schemas to nodes.
type importer struct {
	scan  *scanner
	nodes map[*jsonschema.Schema]*node
	order []*node
}

// pointerOf returns the JSON Pointer to a compiled schema in its document.
func pointerOf(location string) (document, pointer string) {
	document, fragment, _ := strings.Cut(location, "#")
	pointer, _ = fragmentPointer(fragment)
	return document, pointer
}

func (im *importer) node(s *jsonschema.Schema, keyword string) *node {
	if s == nil {
		return nil
	}
	if n, ok := im.nodes[s]; ok {
		return n
	}
	n := &node{keyword: keyword, id: len(im.order), anchor: s.DynamicAnchor, recursive: s.RecursiveAnchor}
	im.nodes[s] = n
	im.order = append(im.order, n)

	document, pointer := pointerOf(s.Location)
	n.pointer, n.resource = pointer, document
	if im.scan != nil {
		n.resource = im.scan.resource(pointer)
		value, _ := lookup(im.scan.root, pointer)
		n.raw, _ = value.(map[string]any)
		if spelled, ok := im.scan.spelled[pointer]; ok {
			n.raw = maps.Clone(n.raw)
			n.raw["pattern"] = spelled
		}
	} else {
		n.raw = described(s)
	}
	if s.Always != nil {
		n.trivial, n.never = true, !*s.Always
		return n
	}
	im.fill(n, s)
	return n
}

// described returns the keywords of a metaschema that appear in messages about mistakes.
func described(s *jsonschema.Schema) map[string]any {
	raw := map[string]any{}
	switch len(s.Types) {
	case 0:
	case 1:
		raw["type"] = s.Types[0]
	default:
		raw["type"] = s.Types
	}
	if len(s.Enum) > 0 {
		raw["enum"] = s.Enum
	}
	if s.Format != "" {
		raw["format"] = s.Format
	}
	return raw
}

// fill copies the keywords of s to n.
func (im *importer) fill(n *node, s *jsonschema.Schema) {
	for _, name := range s.Types {
		n.types |= kindNames[name]
	}
	if s.Enum != nil { // an empty enum allows no value, but the library ignores it
		n.values = append(n.values, choiceOf("enum", s.Enum))
	}
	if len(s.Constant) > 0 {
		n.values = append(n.values, choiceOf("const", s.Constant))
	}
	n.format = formatOf(s.Format)
	n.text = textRules{min: count(s.MinLength), max: count(s.MaxLength), pattern: patternOf(s.Pattern)}
	n.number = numberRules{
		min: s.Minimum, above: s.ExclusiveMinimum, max: s.Maximum, below: s.ExclusiveMaximum, multiple: s.MultipleOf,
	}
	im.fillObject(n, s)
	im.fillArray(n, s)
	im.fillInner(n, s)
	if value, ok := n.raw["default"]; ok && !(im.scan.draft.refAlone() && s.Ref != nil) {
		n.fallback, n.defaults = value, true
	}
}

func (im *importer) fillObject(n *node, s *jsonschema.Schema) {
	n.declares = s.Properties != nil
	r := objectRules{
		min: count(s.MinProperties), max: count(s.MaxProperties), required: s.Required,
		names:       im.node(s.PropertyNames, "propertyNames"),
		additional:  im.anyNode(s.AdditionalProperties, "additionalProperties"),
		unevaluated: im.node(s.UnevaluatedProperties, "unevaluatedProperties"),
		properties:  make(map[string]*node, len(s.Properties)),
		listed:      sortedKeys(s.Properties),
	}
	for _, name := range r.listed {
		r.properties[name] = im.node(s.Properties[name], "properties")
	}
	for re, sub := range s.PatternProperties {
		r.patterns = append(r.patterns, patternRule{patternOf(re), im.node(sub, "patternProperties")})
	}
	slices.SortFunc(r.patterns, func(a, b patternRule) int {
		return strings.Compare(a.pattern.re.String(), b.pattern.re.String())
	})
	for _, name := range sortedKeys(s.Dependencies) {
		d := dependency{keyword: "dependencies", property: name}
		switch value := s.Dependencies[name].(type) {
		case []string:
			d.required = value
		case *jsonschema.Schema:
			d.schema = im.node(value, "dependencies")
		}
		r.dependent = append(r.dependent, d)
	}
	for _, name := range sortedKeys(s.DependentRequired) {
		r.dependent = append(r.dependent,
			dependency{keyword: "dependentRequired", property: name, required: s.DependentRequired[name]})
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		r.dependent = append(r.dependent,
			dependency{keyword: "dependentSchemas", property: name, schema: im.node(s.DependentSchemas[name], "dependentSchemas")})
	}
	n.object = r
}

func (im *importer) fillArray(n *node, s *jsonschema.Schema) {
	r := arrayRules{
		min: count(s.MinItems), max: count(s.MaxItems), unique: s.UniqueItems,
		contains: im.node(s.Contains, "contains"), minFit: count(s.MinContains), maxFit: count(s.MaxContains),
		fitEvaluates: s.ContainsEval,
		prefix:       im.nodeList(s.PrefixItems, "prefixItems"),
		rest:         im.node(s.Items2020, "items"),
		unevaluated:  im.node(s.UnevaluatedItems, "unevaluatedItems"),
	}
	switch items := s.Items.(type) { // before draft 2020-12
	case *jsonschema.Schema:
		r.rest = im.node(items, "items")
	case []*jsonschema.Schema:
		r.prefix = im.nodeList(items, "items")
		r.rest = im.anyNode(s.AdditionalItems, "additionalItems")
	}
	n.array = r
}

func (im *importer) fillInner(n *node, s *jsonschema.Schema) {
	n.applicators = applicatorRules{
		ref:   im.node(s.Ref, "$ref"),
		allOf: im.nodeList(s.AllOf, "allOf"),
		anyOf: im.nodeList(s.AnyOf, "anyOf"),
		oneOf: im.nodeList(s.OneOf, "oneOf"),
		not:   im.node(s.Not, "not"),
		test:  im.node(s.If, "if"), then: im.node(s.Then, "then"), valueOr: im.node(s.Else, "else"),
	}
	if s.RecursiveRef != nil {
		n.applicators.dynamic = append(n.applicators.dynamic, &dynamicRef{target: im.node(s.RecursiveRef, "$ref"), recursive: true})
	}
	if s.DynamicRef != nil {
		target := im.node(s.DynamicRef, "$ref")
		n.applicators.dynamic = append(n.applicators.dynamic, &dynamicRef{target: target, anchor: askedAnchor(n, target)})
	}
}

// askedAnchor returns the anchor that the $dynamicRef of n names.
func askedAnchor(n, target *node) string {
	spelled, ok := n.raw["$dynamicRef"].(string)
	if !ok {
		return target.anchor // n is in a metaschema, in which every $dynamicRef refers to an anchor
	}
	_, fragment, _ := strings.Cut(spelled, "#")
	if strings.HasPrefix(fragment, "/") {
		return ""
	}
	return fragment
}

// link sets the fields that require all nodes: the candidates of dynamic references and the field
// "within".
func (im *importer) link(root *node) {
	for _, n := range im.order {
		for _, ref := range n.applicators.dynamic {
			ref.byResource = map[string]*node{}
			for _, other := range im.order {
				if ref.answers(other) {
					ref.byResource[other.resource] = other
				}
			}
		}
	}
	for _, n := range im.order {
		n.within = withinOf(n, root.resource)
		n.alias = n.isAlias(im.scan != nil && im.scan.draft.refAlone())
	}
	for _, n := range im.order {
		n.applicators.anyOfDiscriminator = discriminatorOf("anyOf", n.applicators.anyOf)
		n.applicators.oneOfDiscriminator = discriminatorOf("oneOf", n.applicators.oneOf)
	}
}

func withinOf(n *node, root string) []*node {
	r := &n.applicators
	all := slices.Concat(r.allOf, r.anyOf, r.oneOf)
	for _, one := range []*node{r.ref, r.not, r.test, r.then, r.valueOr} {
		if one != nil {
			all = append(all, one)
		}
	}
	for _, ref := range r.dynamic {
		all = append(all, ref.options(root)...)
	}
	for _, d := range n.object.dependent {
		if d.schema != nil {
			all = append(all, d.schema)
		}
	}
	return all
}

func (im *importer) nodeList(list []*jsonschema.Schema, keyword string) []*node {
	var nodes []*node
	for _, s := range list {
		nodes = append(nodes, im.node(s, keyword))
	}
	return nodes
}

// anyNode converts a subschema. The library represents the schemas true and false as a bool.
func (im *importer) anyNode(value any, keyword string) *node {
	switch value := value.(type) {
	case *jsonschema.Schema:
		return im.node(value, keyword)
	case bool:
		n := &node{keyword: keyword, trivial: true, never: !value, id: len(im.order)}
		im.order = append(im.order, n)
		return n
	}
	return nil
}

// count converts a number of elements, members or characters from the library's representation. A
// negative number is the result of an overflow, and is replaced by the largest int.
func count(n int) int {
	if n < unlimited {
		return math.MaxInt
	}
	return n
}

func choiceOf(keyword string, values []any) choice {
	c := choice{keyword: keyword, allowed: make(map[string]bool, len(values))}
	for _, v := range values {
		c.kinds |= kindOf(v)
		c.allowed[identity(v)] = true
	}
	return c
}

func patternOf(re *regexp.Regexp) *pattern {
	if re == nil {
		return nil
	}
	expression := re.String()
	if translated := translate(expression); translated != expression { // measure has accepted this expression
		re = regexp.MustCompile(translated)
	}
	size, _, _ := measure(expression)
	return &pattern{re: re, size: size}
}
