package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

func readTriggers(r *reader, e *entry) {
	for _, item := range r.items(e, "remember") {
		t := Trigger{Position: item.at(), Operation: OperationOverwrite}
		hasWhen, hasStore := false, false
		r.readEntries(flattened(item), "a trigger", properties{
			"WHEN":   func(e *entry) { t.When, hasWhen = r.condition(e), true },
			"STORE":  func(e *entry) { hasStore = true; readStore(r, e, &t) },
			"TTL":    func(e *entry) { t.TTL = r.duration(e) },
			"DOMAIN": func(e *entry) { t.Domain = r.text(e).Value },
		})
		if !hasWhen {
			r.errorf(t.Position, problem.MissingKey, "write `WHEN: name IS SET`", "the trigger has no condition")
		}
		if !hasStore {
			r.errorf(t.Position, problem.MissingKey, "write `STORE: value -> user.path`", "the trigger stores nothing")
		}
		r.doc.Memory.Triggers = append(r.doc.Memory.Triggers, t)
	}
}

const hintStore = "write `STORE: value -> user.path`"

// readStore reads the property STORE, which has two forms: VALUE -> PATH, or a block of properties.
func readStore(r *reader, e *entry, t *Trigger) {
	if e.value.Value == "" {
		readStoreBlock(r, e, t)
		return
	}
	r.leaf(e)
	x, rest, mistake := parsePrefix(e.value)
	if mistake != nil {
		r.report(*mistake)
		return
	}
	t.Value = x
	target, found := strings.CutPrefix(e.value.Value[rest:], "->")
	if !found {
		r.errorf(e.value.at(rest), problem.Syntax, hintStore, "STORE has no arrow and target")
		return
	}
	trimmed := strings.TrimSpace(target)
	offset := len(e.value.Value) - len(strings.TrimLeft(target, " \t\n"))
	t.Target = readTarget(r, Text{Position: e.value.at(offset), Value: trimmed})
}

func readStoreBlock(r *reader, e *entry, t *Trigger) {
	r.read(e, "STORE", properties{
		"VALUE":  func(e *entry) { t.Value = r.expression(e) },
		"TARGET": func(e *entry) { t.Target = readTarget(r, r.text(e)) },
		"OPERATION": func(e *entry) {
			if r.choice(e, "overwrite", "set", "append") == "append" {
				t.Operation = OperationAppend
			}
		},
		"UNIQUE":  func(e *entry) { t.Unique = r.boolean(e) },
		"MAXSIZE": func(e *entry) { t.MaxSize = r.count(e) },
	})
	if t.Value == nil || t.Target.Value == "" {
		if !r.hasProblemAt(e.at()) {
			r.errorf(e.at(), problem.MissingKey, "write `value: name` and `target: user.path` on indented lines below", "STORE has no value or no target")
		}
	}
	if t.Operation != OperationAppend && (t.Unique || t.MaxSize > 0) {
		r.warnf(e.at(), problem.NoEffect, "write operation: append", "`unique` and `maxSize` have an effect only with `append`")
	}
}

// readTarget reads the path of the fact in which a trigger stores a value.
func readTarget(r *reader, text Text) Name {
	path := r.pathOf(text, "a fact")
	first, _, dotted := strings.Cut(path.Value, ".")
	if path.Value != "" && !dotted {
		r.errorf(path.Position, problem.BadValue, "write user."+first, "the target %s consists of only one name", problem.Quote(first))
	}
	return path
}

// isFactPath reports whether a path begins with the name of a scope.
func isFactPath(path string) bool {
	first, _, dotted := strings.Cut(path, ".")
	return dotted && slices.Contains([]string{"user", "project", "workflow", "execution_tree"}, first)
}
