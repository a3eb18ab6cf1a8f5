package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// store evaluates the triggers of the acting agent, in order. A trigger stores a value if the
// condition of the trigger is true and the value is set. However, if the value equals the value
// that the trigger stored last in this session, the trigger does not store the value again.
func (r *rules) store(ctx context.Context) error {
	for i := range r.mem.agent.Memory.Triggers {
		if err := r.trigger(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (r *rules) trigger(ctx context.Context, i int) error {
	trigger := &r.mem.agent.Memory.Triggers[i]
	entry := report.Trace{Kind: "trigger", Name: trigger.Target.Value, Position: r.log.place(trigger.Position)}
	holds, err := r.matches(ctx, trigger.When)
	if err != nil {
		return err
	}
	if !holds {
		entry.Result = "skipped"
		r.log.note(entry)
		return nil
	}
	value, err := r.mem.eval(ctx, trigger.Value)
	if err != nil {
		return err
	}
	if err := r.mem.measure(trigger.Target, value); err != nil { // limits the size of the encoded value
		return err
	}
	entry.Value = r.mem.shownJSON(trigger.Target.Value, value)
	entry.Result = "unset"
	if value != nil {
		entry.Result, err = r.triggered(ctx, i, trigger, value)
	}
	r.log.note(entry)
	return err
}

// matches reports whether the condition of a trigger is true. In the first turns, the names in the
// condition of a trigger often have no value. Therefore, if a condition is false, its warnings are
// dropped.
func (r *rules) matches(ctx context.Context, x *abl.Expr) (bool, error) {
	result, err := x.Eval(r.mem.scope(ctx), r.mem.options())
	if err != nil || !abl.IsTruthy(result.Value) {
		return false, r.mem.located(err, x.Position())
	}
	r.log.warnings(result.Warnings)
	return true, nil
}

// triggered stores the value of a trigger. triggered returns a text for the field "Result" of the
// trace entry.
func (r *rules) triggered(ctx context.Context, i int, trigger *abl.Trigger, value any) (string, error) {
	sum := digest(trigger, value)
	if r.mem.state.Stored[i] == sum {
		return "unchanged", nil
	}
	f := r.mem.agent.facts[trigger.Target.Value]
	result, err := r.storeTrigger(ctx, trigger, f, value)
	if trigger.Operation == abl.OperationAppend && errors.Is(err, abi.TooLarge) {
		// A full list must not make a turn fail, because then every later turn of the user would
		// also fail.
		r.log.warnf(trigger.Position, "the array %s is full, so nothing was appended; limit the size of the array with maxSize", trigger.Target.Value)
		return "failed", nil
	}
	if err != nil && (isUnscoped(err) || errors.Is(err, abi.AccessDenied)) {
		why := "cannot be written"
		if isUnscoped(err) {
			why = reason(err)
		}
		r.log.warnf(trigger.Position, "%s %s", trigger.Target.Value, why)
		return "denied", nil
	}
	if err != nil {
		return "failed", err
	}
	if r.mem.state.Stored == nil {
		r.mem.state.Stored = map[int]string{}
	}
	r.mem.state.Stored[i] = sum
	return result, nil
}

// storeTrigger writes the value of a trigger to its fact.
func (r *rules) storeTrigger(ctx context.Context, trigger *abl.Trigger, f *abl.Fact, value any) (string, error) {
	if trigger.Operation == abl.OperationAppend {
		stored, err := storedFact(ctx, r.mem, f)
		if err != nil {
			return "", err
		}
		items, added := r.appended(trigger, stored.value, value)
		if !added {
			return "unchanged", nil
		}
		if err := r.mem.measure(trigger.Target, items); err != nil {
			return "", err
		}
		value = items
	}
	options := FactOptions{TTL: trigger.TTL, Domain: trigger.Domain}
	if options.Domain == "" {
		options.Domain = domainOf(f)
	}
	if err := r.mem.setFact(ctx, trigger.Target, f, value, options); err != nil {
		return "", err
	}
	if r.stored == nil {
		r.stored = map[string]any{}
	}
	r.stored[f.Value] = r.mem.agent.shown(f.Value, value)
	return "stored", nil
}

// appended returns a copy of the stored array with an additional item. If the items must be unique
// and the array already contains the item, the second result is false.
func (r *rules) appended(trigger *abl.Trigger, stored, item any) ([]any, bool) {
	items, isArray := stored.([]any)
	if stored != nil && !isArray {
		r.log.warnf(trigger.Position, "the value of %s is not an array; the value becomes the first item of a new array", trigger.Target.Value)
		items = []any{stored}
	}
	if trigger.Unique && r.contains(items, item) {
		return nil, false
	}
	items = append(slices.Clone(items), item)
	if n := trigger.MaxSize; n > 0 && len(items) > n {
		items = items[len(items)-n:]
	}
	return items, true
}

// contains reports whether an array contains an item. contains also subtracts the cost of the
// array's size from the budget of the turn.
func (r *rules) contains(items []any, item any) bool {
	size, _ := sizeOf(items, MaxValueBytes, 0)
	r.mem.cost -= size / bytesPerStep
	return slices.ContainsFunc(items, func(other any) bool { return reflect.DeepEqual(other, item) })
}

// domainOf returns the declared domain of a fact. If no domain is declared, the domain is the
// second name of the path.
func domainOf(f *abl.Fact) string {
	if f.Domain != "" {
		return f.Domain
	}
	names := strings.SplitN(f.Value, ".", 3)
	if len(names) < 2 {
		return ""
	}
	return names[1]
}

// digest returns a short text that identifies a value, the path at which a trigger stores the
// value, and the operation of the trigger. If one of these differs, the digests also differ.
func digest(trigger *abl.Trigger, value any) string {
	content, _ := json.Marshal([]any{trigger.Target.Value, trigger.Operation, value}) // values are JSON
	sum := sha256.Sum256(content)
	return base64.RawStdEncoding.EncodeToString(sum[:12])
}
