package template

// Ref is a store or a fact that a template reads.
type Ref struct {
	// Store is the name of the store, or "" if the Ref is a fact. Fact is the path of the fact, or
	// "" if the Ref is a store.
	Store, Fact string
	// Paths lists the fields of a store that the template reads, in the notation of projections
	// ("a.b"). No listed field is nested in another listed field. If Paths is nil, the template
	// reads the whole content. The listed fields are sufficient to render the template.
	Paths []string
	// Line and Column are the position of the first use of the store or the fact. Line and Column
	// are counted in the same way as in Error.
	Line, Column int
}

// Refs returns the stores and facts that the template reads, in the order of their first use. Each
// store and each fact is listed once. The argument "isFact" has the same meaning as Source.IsFact.
func (t *Template) Refs(isFact func(path string) bool) []Ref {
	var refs []Ref
	paths, facts := map[string][]string{}, map[string]bool{}
	for _, n := range t.nodes {
		switch n := n.(type) {
		case memoryRef:
			if _, known := paths[n.store]; !known {
				refs = append(refs, Ref{Store: n.store, Line: n.line, Column: n.column})
			}
			paths[n.store] = append(paths[n.store], n.projection())
		case factRef:
			path, _ := n.split(isFact)
			if !facts[path] {
				refs = append(refs, Ref{Fact: path, Line: n.line, Column: n.column})
			}
			facts[path] = true
		}
	}
	for i, ref := range refs {
		if ref.Store != "" {
			refs[i].Paths = outermost(paths[ref.Store])
		}
	}
	return refs
}
