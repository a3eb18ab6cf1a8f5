package abl

import (
	"slices"

	"github.com/toolrun/toolrun/host/problem"
)

// level is a level of indentation in a tree that is being built.
type level struct {
	indent int
	parent *entry
	dashes bool // true if a key and the items below it have the same indentation
}

// treeBuilder arranges entries in a tree by their indentation.
type treeBuilder struct {
	root     entry
	levels   []level
	problems problem.List
	deep     bool // true if a line that is nested too deeply has already been reported
}

// readTree reads a file and returns its entries as a tree. If a line is indented with a tab, the
// nesting of the lines is not clear. readTree then reports only the tab.
func readTree(src []byte) (root *entry, after []string, problems problem.List) {
	entries, after, problems := splitLines(src)
	if i := slices.IndexFunc(problems, func(p problem.Problem) bool { return p.Code == problem.Indentation }); i >= 0 {
		return &entry{}, after, problems[i : i+1]
	}
	b := &treeBuilder{problems: problems}
	for _, e := range entries {
		b.add(e)
	}
	return &b.root, after, b.problems
}

func (b *treeBuilder) top() *level { return &b.levels[len(b.levels)-1] }

func (b *treeBuilder) pop() { b.levels = b.levels[:len(b.levels)-1] }

// The method "last" returns the last entry of the innermost level.
func (b *treeBuilder) last() *entry {
	children := b.top().parent.children
	return children[len(children)-1]
}

func (b *treeBuilder) add(e *entry) {
	if len(b.levels) == 0 {
		b.levels = []level{{indent: e.indent, parent: &b.root}}
		b.append(e)
		return
	}
	popped := false
	for len(b.levels) > 1 && (b.top().indent > e.indent || b.top().indent == e.indent && b.top().dashes && !e.dash) {
		popped = popped || b.top().indent > e.indent
		b.pop()
	}
	switch last := b.last(); {
	case b.top().indent > e.indent, b.top().indent < e.indent && popped:
		b.problems = append(b.problems, problemAt(e.at(), problem.Indentation, "indent the line like the other lines of the block",
			"the indentation of %d spaces matches no line above", e.indent))
		if b.top().indent < e.indent {
			b.levels = append(b.levels, level{indent: e.indent, parent: last})
		}
	case b.top().indent < e.indent:
		b.levels = append(b.levels, level{indent: e.indent, parent: last})
	case e.dash && !last.dash && last.key != "" && last.value.Value == "" && len(last.children) == 0:
		b.levels = append(b.levels, level{indent: e.indent, parent: last, dashes: true})
	}
	b.append(e)
}

func (b *treeBuilder) append(e *entry) {
	parent := b.top().parent
	e.depth = len(b.levels) - 1
	if e.depth > MaxDepth && !b.deep {
		b.deep = true
		b.problems = append(b.problems, problemAt(e.at(), problem.OverLimit, "", "lines are nested deeper than %d levels", MaxDepth))
	}
	parent.children = append(parent.children, e)
}
