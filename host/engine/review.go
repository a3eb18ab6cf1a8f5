package engine

import "strings"

// Review is the result of a static check of a source. Review is intended for the tool's author.
// Review is not complete, because it contains only what the engine can prove without running the
// code.
type Review struct {
	// Calls contains the memory calls whose operation and whose store or item are literals in the
	// code.
	Calls []MemoryCall `json:"calls,omitempty"`
	// Findings contains all other mistakes, in source order.
	Findings []Finding `json:"findings,omitempty"`
}

// Position is a position in the author's files. File is relative to the tool's folder; Line and Column count from 1 and
// are 0 if the position is unknown.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// MemoryCall is a memory operation on a store or an item that the code names by a literal.
type MemoryCall struct {
	Op string `json:"op"`
	// Store is the name of the store. Store is "" if the first parameter of the operation is not a
	// store.
	Store string `json:"store,omitempty"`
	// Item is the first argument of an operation without a store, such as the path of a fact.
	Item string `json:"item,omitempty"`
	Position
}

// Finding is a likely mistake in a source: code that fails when executed or that has no effect.
type Finding struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Position
}

// Reviewer is implemented by programs that can review their source. The method Review returns the
// result if Source.Review was set, and a zero Review otherwise.
type Reviewer interface {
	Review() Review
}

// ReviewOf returns the review of a program, or a zero Review if its engine does not support
// reviews.
func ReviewOf(p Program) Review {
	if r, ok := p.(Reviewer); ok {
		return r.Review()
	}
	return Review{}
}

// The maximum numbers of calls and findings in a Review. Engines omit further calls and findings.
const (
	MaxReviewCalls    = 500
	MaxReviewFindings = 100
)

// Bounded returns a copy of the review that does not exceed MaxReviewCalls and MaxReviewFindings.
// Bounded truncates long texts. Reviews from a guest's process are not trusted and must be bounded.
func (r Review) Bounded() Review {
	const name, text = 256, 1 << 10
	var b Review
	for _, c := range r.Calls[:min(len(r.Calls), MaxReviewCalls)] {
		b.Calls = append(b.Calls, MemoryCall{clip(c.Op, name), clip(c.Store, name), clip(c.Item, text), c.bounded()})
	}
	for _, f := range r.Findings[:min(len(r.Findings), MaxReviewFindings)] {
		b.Findings = append(b.Findings, Finding{clip(f.Message, text), clip(f.Hint, text), f.bounded()})
	}
	return b
}

func (p Position) bounded() Position {
	const maximum = 1 << 10
	return Position{clip(p.File, maximum), max(p.Line, 0), max(p.Column, 0)}
}

func clip(text string, maximum int) string {
	if len(text) <= maximum {
		return text
	}
	return strings.ToValidUTF8(text[:maximum], "")
}
