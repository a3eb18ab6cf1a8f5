package abl

import (
	"fmt"
	"slices"
	"strings"
)

// function is a built-in function.
type function struct {
	name  string
	usage string // for hints and for the reference page
	min   int
	max   int // -1 means any number
	apply func(*invocation) (any, error)
	lazy  func(*evaluator, *call) (any, error) // called instead of "apply" if not nil
}

// arity returns, for messages, how many arguments the function can have.
func (f *function) arity() string {
	plural := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return fmt.Sprintf("%d arguments", n)
	}
	switch {
	case f.min == f.max:
		return plural(f.min)
	case f.max < 0:
		return "at least " + plural(f.min)
	default:
		return fmt.Sprintf("%d to %d arguments", f.min, f.max)
	}
}

// functionTable contains the built-in functions. The keys are their names in upper case.
var functionTable = tableOf(mathFunctions(), textFunctions(), patternFunctions(), matchFunctions(), formatFunctions(),
	typeFunctions(), collectionFunctions(), choiceFunctions(), contentFunctions())

func tableOf(groups ...[]function) map[string]*function {
	table := map[string]*function{}
	for _, f := range slices.Concat(groups...) {
		table[f.name] = &f
	}
	return table
}

// lookupFunction returns the function that has the given upper-case name, or nil.
func lookupFunction(name string) *function { return functionTable[name] }

// FunctionNames returns the names of the built-in functions, sorted.
func FunctionNames() []string {
	var names []string
	for name := range functionTable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// FunctionUsages returns one line for each built-in function, such as "ADD(a, b)". The lines are
// sorted by the names of the functions.
func FunctionUsages() []string {
	var usages []string
	for _, name := range FunctionNames() {
		usages = append(usages, functionTable[name].usage)
	}
	return usages
}

// invocation is a function call with its arguments.
type invocation struct {
	ev   *evaluator
	at   Position
	name string
	args []any
}

// arg returns the argument at an index. If the call has fewer arguments, arg returns nil.
func (c *invocation) arg(i int) any {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

// str returns an argument as text.
func (c *invocation) str(i int) (string, error) { return c.ev.text(c.arg(i)) }

// strs returns all arguments as texts.
func (c *invocation) strs() ([]string, error) {
	texts := make([]string, len(c.args))
	for i := range texts {
		var err error
		if texts[i], err = c.str(i); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// number returns an argument as a number. If the argument is not a number, number adds a warning.
func (c *invocation) number(i int) (float64, bool) {
	c.ev.spend(conversionCost(c.arg(i)))
	n, ok := toNumber(c.arg(i))
	if !ok {
		c.ev.warnf(c.at, "argument %d of the function %s is %s, not a number", i+1, c.name, describe(c.arg(i)))
	}
	return n, ok
}

// integer returns the integer part of an argument. If the argument is missing or is not a number,
// integer returns the value of "fallback".
func (c *invocation) integer(i, fallback int) int {
	if i >= len(c.args) {
		return fallback
	}
	n, ok := c.number(i)
	if !ok {
		return fallback
	}
	return truncated(n)
}

// usageName returns the name of the function at the start of a usage. A usage is a text such as
// "ADD(a, b)".
func usageName(usage string) string {
	name, _, _ := strings.Cut(usage, "(")
	return name
}

// fn creates a function from the text of its usage. If the name of a parameter ends with "?", the
// parameter is optional. The text "..." allows further arguments.
func fn(usage string, apply func(*invocation) (any, error)) function {
	f := function{name: usageName(usage), usage: usage, apply: apply}
	params := strings.Split(strings.TrimSuffix(usage[len(f.name)+1:], ")"), ", ")
	for _, param := range params {
		switch {
		case param == "":
		case param == "...":
			f.max = -1
		default:
			if f.max++; !strings.HasSuffix(param, "?") {
				f.min++
			}
		}
	}
	return f
}
