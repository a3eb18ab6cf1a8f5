package engine

import "strings"

// Review is the result of a static check of a source. A Review is intended for the author of the
// tool. A Review is not complete. Review contains only facts that the engine can prove without
// running the code.
type Review struct {
	// Calls contains memory calls in the code. The operation of such a call is a literal, and so is
	// its store or item.
	Calls []MemoryCall `json:"calls,omitempty"`
	// Findings contains the likely mistakes in the code, in the order of the source.
	Findings []Finding `json:"findings,omitempty"`
}

// Position is a position in a file of the author. File is relative to the tool's folder. Line and
// Column start at 1. If the position is unknown, both are 0.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// MemoryCall is a memory operation in the code. A literal in the code names the store or the item
// of the operation.
type MemoryCall struct {
	Op string `json:"op"`
	// Store is the name of the store. If the first parameter of the operation is not a store, Store
	// is "".
	Store string `json:"store,omitempty"`
	// Item is the first argument of the operation, if the operation has no store. An example is the
	// path of a fact.
	Item string `json:"item,omitempty"`
	Position
}

// Finding is a likely mistake in a source. The code either fails when it is executed, or has no
// effect.
type Finding struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Position
}

// Reviewer is an optional interface of a Program. Programs that can review their source implement
// it. If Source.Review was set, the method Review returns the result of the review. Otherwise, it
// returns a zero Review.
type Reviewer interface {
	Review() Review
}

// ReviewOf returns the review of a program. If the engine of the program does not support reviews,
// ReviewOf returns a zero Review.
func ReviewOf(p Program) Review {
	if r, ok := p.(Reviewer); ok {
		return r.Review()
	}
	return Review{}
}

// A Review contains at most these numbers of calls and findings. If there are more calls or
// findings, an engine omits them.
const (
	MaxReviewCalls    = 500
	MaxReviewFindings = 100
)

// Bounded returns a copy of the review. The copy contains at most MaxReviewCalls calls and
// MaxReviewFindings findings. Bounded truncates long texts. A review that a guest's process returns
// is not trusted. It must be bounded.
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
