package agent_test

import (
	"cmp"
	"slices"
	"strings"
)

// transform creates a list from another list.
func (t *refTurn) transform(tr *refTransform) {
	source, _ := t.eval(tr.source).([]any)
	result := []any{}
	for _, item := range source {
		t.itemName, t.item = tr.as, item
		if tr.filter == nil || refTrue(t.eval(tr.filter)) {
			result = append(result, t.mapped(tr, item))
			t.seen["transformed items"]++
		}
	}
	t.itemName, t.item = "", nil
	if tr.sortBy != "" {
		result = refSorted(result, tr.sortBy, tr.descending)
	}
	if tr.limit != nil {
		if n, ok := refCount(t.eval(tr.limit)); ok {
			result = result[:min(max(int(n), 0), len(result))]
		}
	}
	t.assign(tr.into, result)
}

func (t *refTurn) mapped(tr *refTransform, item any) any {
	if len(tr.fields) == 0 {
		return item
	}
	object := map[string]any{}
	for _, f := range tr.fields {
		object[f.target] = t.eval(f.value)
	}
	return object
}

// refSorted sorts items by insertion. Numbers sort before texts, and texts sort before other
// values. If an item does not have the field, the item sorts last, in ascending and in descending
// order.
func refSorted(items []any, field string, descending bool) []any {
	var sorted, last []any
	for _, item := range items {
		object, _ := item.(map[string]any)
		if object[field] == nil {
			last = append(last, item)
			continue
		}
		i := len(sorted)
		for i > 0 {
			order := refOrder(sorted[i-1].(map[string]any)[field], object[field])
			if descending {
				order = -order
			}
			if order <= 0 {
				break
			}
			i--
		}
		sorted = slices.Insert(sorted, i, item)
	}
	return append(append([]any{}, sorted...), last...)
}

// refOrder compares two values that are not null.
func refOrder(a, b any) int {
	x, isNumberA := refCount(a)
	y, isNumberB := refCount(b)
	s, isTextA := a.(string)
	u, isTextB := b.(string)
	switch {
	case isNumberA && isNumberB:
		return cmp.Compare(x, y)
	case isNumberA || isNumberB:
		return refBefore(isNumberA)
	case isTextA && isTextB:
		return strings.Compare(s, u)
	case isTextA || isTextB:
		return refBefore(isTextA)
	}
	return 0
}

// refBefore returns the result of a comparison: -1 if the first value precedes the second value,
// otherwise 1.
func refBefore(first bool) int {
	if first {
		return -1
	}
	return 1
}

// chat sends a request to the model. A turn sends at most 10 requests.
func (t *refTurn) chat() modelFate {
	if t.chats++; t.chats > 10 {
		t.die("requests to models")
	}
	f := t.model(t.chats - 1)
	if f.code != "" {
		t.die("the model fails")
	}
	return f
}

// extract passes the message to the model, which extracts the fields of GATHER. If the message
// answers a question but contains no field, the method returns false.
func (t *refTurn) extract(step *refStep, a *refAction) bool {
	requested := t.requested
	t.requested = ""
	if !a.model || !t.unread || strings.TrimSpace(*t.message) == "" {
		return true
	}
	t.unread = false
	found := requested == ""
	values := t.chat().fields(a.names)
	for _, name := range a.names {
		value, typ := values[name], t.typeOf(step, name)
		if text, ok := value.(string); ok {
			value, _ = refConvert(text, typ)
		}
		if _, isNumber := value.(float64); value == nil || typ == "number" && !isNumber {
			continue
		}
		t.assign(name, value)
		t.fire("entity:" + name + ":extracted")
		found = true
		t.seen["extracted fields"]++
	}
	return found
}

// classify returns the index of the intent that the model chooses, or -1 if the model chooses none.
func (t *refTurn) classify(step *refStep) int {
	var phrases []string
	for _, in := range step.intents {
		phrases = append(phrases, in.phrase)
	}
	i := slices.Index(phrases, t.chat().intent(phrases))
	if i >= 0 {
		t.seen["chosen intents"]++
	}
	return i
}
