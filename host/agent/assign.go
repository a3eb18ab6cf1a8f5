package agent

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
)

// Limits of values.
const (
	// MaxValueBytes is the approximate maximum size of an assigned value.
	MaxValueBytes = 1 << 20
	// MaxStateBytes is the approximate maximum total size of the variables of an agent in a
	// session. It is also the maximum for the facts that recalls have loaded in a session.
	MaxStateBytes = 2 << 20
	// MaxValueDepth is the maximum nesting depth of an assigned value.
	MaxValueDepth = 64
)

// The costs of actions in evaluation steps. The cost of an action includes the costs of its
// expressions.
const (
	// bytesPerStep is the number of bytes of a value that one evaluation step can copy, compare or
	// encode.
	bytesPerStep     = 16
	costOfAction     = 2
	costOfAssign     = 5
	costOfPart       = 10 // for each name in the path of a nested value
	costOfClear      = 4
	costOfFact       = 50 // for each fact that is written
	costOfRecall     = 100
	costOfConstraint = 5
)

// charge subtracts evaluation steps from the budget of the turn. charge returns a fault if the cost
// exceeds the budget.
func (m *memory) charge(at abl.Position, steps int) error {
	if m.cost -= steps; m.cost < 0 {
		return m.located(abl.ErrCost, at)
	}
	return nil
}

// assign sets a target, which is a declared fact of the agent, a session variable, or a part of a
// fact or variable. If the target is a part of a value, assign creates the missing objects on the
// path of the target. The error is a fault if the agent cannot write the fact, or if the value is
// too large. With STRICT_TYPES, a value of a wrong type is also a fault.
func (m *memory) assign(ctx context.Context, target abl.Name, value any) error {
	path := strings.Split(target.Value, ".")
	return m.assignPath(ctx, target, path, len(path), value)
}

// assignPath sets the value of a path. Only the first "fixed" names of the path can be the path of
// a fact, because the names after them are computed.
func (m *memory) assignPath(ctx context.Context, target abl.Name, path []string, fixed int, value any) error {
	value = abl.Plain(value)
	f, n := m.agent.fact(path[:fixed])
	if f == nil {
		n = 1
	}
	value, err := m.nested(ctx, target, f, path, n, value)
	if err != nil {
		return err
	}
	if err := m.measure(target, value); err != nil {
		return err
	}
	// Sensitive parts are also compared and masked, so they cost the same as a copy.
	if len(m.agent.masks) > 0 && m.agent.masks.find(path[0]) != "" {
		if err := m.measure(target, value); err != nil {
			return err
		}
	}
	if f != nil {
		return m.setFact(ctx, target, f, value, FactOptions{})
	}
	return m.setVariable(target, path[0], value)
}

// nested copies a whole value, assigns one part of the copy, and returns the copy.
func (m *memory) nested(ctx context.Context, target abl.Name, f *abl.Fact, path []string, n int, value any) (any, error) {
	if n == len(path) {
		return value, nil
	}
	if err := m.charge(target.Position, costOfPart*(len(path)-n)); err != nil {
		return nil, err
	}
	if f != nil && f.Access == abl.AccessWrite {
		return nil, m.log.faultf(target.Position, abi.AccessDenied, "the path %s has ACCESS: write, so only its whole value can be set, not a part of the value", f.Value)
	}
	whole, _, err := m.scope(ctx).Lookup(path[:n])
	if err != nil {
		return nil, err
	}
	return replaced(m, target, whole, path[n:], value), nil
}

// replaced returns a copy of an object or an array. In the copy, the value at a path is replaced.
func replaced(m *memory, target abl.Name, whole any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	items, isArray := whole.([]any)
	if isArray || path[0] == "0" && abl.Plain(whole) == nil {
		if i, err := strconv.Atoi(path[0]); err == nil {
			return replacedItem(m, target, items, i, path[1:], value)
		}
	}
	object, ok := whole.(map[string]any)
	if !ok && abl.Plain(whole) != nil {
		m.log.warnf(target.Position, "the assignment to %s replaces a value that is not an object", target.Value)
	}
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	object[path[0]] = replaced(m, target, object[path[0]], path[1:], value)
	return object
}

// replacedItem returns a copy of an array. In the copy, an item is replaced, or the value at a path
// within the item. If the index is equal to the length of the array, the item is appended. A larger
// or negative index changes nothing.
func replacedItem(m *memory, target abl.Name, items []any, i int, path []string, value any) any {
	if i < 0 || i > len(items) {
		m.log.warnf(target.Position, "the array %s has %d items and no item %d; the assignment has no effect", firstOf(target.Value), len(items), i)
		return items
	}
	items = slices.Clone(items)
	if i == len(items) {
		items = append(items, nil)
	}
	items[i] = replaced(m, target, items[i], path, value)
	return items
}

// firstOf returns the first name of a path.
func firstOf(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}

// setFact stores a fact, or deletes it if the value is null. The caller must already have checked
// the value by calling measure.
func (m *memory) setFact(ctx context.Context, target abl.Name, f *abl.Fact, value any, o FactOptions) error {
	if f.Access == abl.AccessRead {
		return m.log.faultf(target.Position, abi.AccessDenied, "the path %s has ACCESS: read and cannot be written", f.Value)
	}
	if value == nil {
		return m.deleteFact(ctx, target, f)
	}
	if err := m.typed(target, value, f.Type); err != nil {
		return err
	}
	if err := m.charge(target.Position, costOfFact); err != nil {
		return err
	}
	if err := m.env.SetFact(ctx, m.agent.name, f.Value, value, o); err != nil {
		return err
	}
	m.remember(f.Value, cachedFact{value, true})
	return nil
}

// setVariable sets a session variable. The caller must already have checked the value by calling
// measure.
func (m *memory) setVariable(target abl.Name, name string, value any) error {
	m.log.hide(name, value)
	v := m.agent.variables[name]
	if v == nil {
		m.state.Variables[name] = value
		return nil
	}
	if err := m.typed(target, value, v.Type); err != nil {
		return err
	}
	if v.Reset != abl.ResetNever {
		m.state.Variables[name] = value
		return nil
	}
	m.kept[name], m.keptChanged = value, true
	return nil
}

// typed adds a warning if a value does not have the declared type. With STRICT_TYPES, typed returns
// a fault instead of the warning.
func (m *memory) typed(target abl.Name, value any, want abl.Type) error {
	if abl.HasType(value, want) {
		return nil
	}
	if m.agent.StrictTypes {
		return m.log.faultf(target.Position, abi.SchemaViolation, "%s is declared as %s, but the new value is of the type %s", target.Value, want, abl.TypeOf(value))
	}
	m.log.warnf(target.Position, "%s is declared as %s, but the new value is of the type %s", target.Value, want, abl.TypeOf(value))
	return nil
}

// clear removes a variable, a fact, or a part of one of them.
func (m *memory) clear(ctx context.Context, target abl.Name) error {
	if err := m.charge(target.Position, costOfClear); err != nil {
		return err
	}
	path := strings.Split(target.Value, ".")
	f, n := m.agent.fact(path)
	switch {
	case f != nil && n == len(path):
		return m.deleteFact(ctx, target, f)
	case f == nil && len(path) == 1:
		delete(m.state.Variables, path[0])
		if _, ok := m.kept[path[0]]; ok {
			delete(m.kept, path[0])
			m.keptChanged = true
		}
		return nil
	}
	n = len(path) - 1
	parent := abl.Name{Position: target.Position, Value: strings.Join(path[:n], ".")}
	whole, names, err := m.scope(ctx).Lookup(path[:n])
	if err != nil {
		return err
	}
	for _, name := range path[names:n] {
		object, _ := whole.(map[string]any)
		whole = object[name]
	}
	object, _ := whole.(map[string]any)
	if _, ok := object[path[n]]; !ok {
		return nil
	}
	object = maps.Clone(object)
	delete(object, path[n])
	return m.assign(ctx, parent, object)
}

func (m *memory) deleteFact(ctx context.Context, target abl.Name, f *abl.Fact) error {
	if f.Access == abl.AccessRead {
		return m.log.faultf(target.Position, abi.AccessDenied, "the path %s has ACCESS: read and cannot be written", f.Value)
	}
	if err := m.charge(target.Position, costOfFact); err != nil {
		return err
	}
	if err := m.env.DeleteFact(ctx, m.agent.name, f.Value); err != nil {
		return err
	}
	m.remember(f.Value, cachedFact{})
	return nil
}

// measure returns a fault if a value is too large or too deep. measure also subtracts the cost of
// the value's size from the budget of the turn.
func (m *memory) measure(target abl.Name, value any) error {
	size, deep := sizeOf(value, MaxValueBytes, 0)
	switch m.cost -= costOfAssign + size/bytesPerStep; {
	case deep:
		return m.log.faultf(target.Position, abi.TooLarge, "the value of %s is nested deeper than %d levels", target.Value, MaxValueDepth)
	case size > MaxValueBytes:
		return m.log.faultf(target.Position, abi.TooLarge, "the value of %s is larger than %d bytes", target.Value, MaxValueBytes)
	case m.cost < 0:
		return m.located(abl.ErrCost, target.Position)
	}
	return nil
}

// sizeOf returns the approximate size of a value as JSON. A value can contain the same part many
// times, so sizeOf stops when the size exceeds the limit.
func sizeOf(value any, limit, depth int) (size int, deep bool) {
	if depth > MaxValueDepth {
		return 0, true
	}
	switch value := value.(type) {
	case string:
		return len(value) + 2, false
	case []any:
		size = 2
		for _, item := range value {
			n, tooDeep := sizeOf(item, limit-size, depth+1)
			if size += n + 1; size > limit || tooDeep {
				return size, tooDeep
			}
		}
		return size, false
	case map[string]any:
		size = 2
		for key, item := range value {
			n, tooDeep := sizeOf(item, limit-size, depth+1)
			if size += n + len(key) + 4; size > limit || tooDeep {
				return size, tooDeep
			}
		}
		return size, false
	}
	return 8, false
}

// keep sets the variables that have the attribute RESET: never. Each of these variables gets its
// stored value. If no value is stored, the variable gets its initial value.
func (a *actor) keep() {
	if a.kept = maps.Clone(a.kept); a.kept != nil {
		return
	}
	a.kept = map[string]any{}
	for name, v := range a.agent.variables {
		if v.Reset == abl.ResetNever {
			a.kept[name] = v.Initial
		}
	}
}

// initialize sets variables to their initial values. For a new agent, it sets all variables except
// those that are never reset. Otherwise, it sets only the variables that are reset at every
// activation.
func (m *memory) initialize() {
	for name, v := range m.agent.variables {
		if v.Reset != abl.ResetNever && (m.isNew || v.Reset == abl.ResetActivation) {
			m.state.Variables[name] = v.Initial
		}
	}
}

// resetStep sets each variable that has "RESET: step" to its initial value.
func (m *memory) resetStep() {
	for name, v := range m.agent.variables {
		if v.Reset == abl.ResetStep {
			m.state.Variables[name] = v.Initial
		}
	}
}
