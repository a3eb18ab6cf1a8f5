package abl

import "maps"

func collectionFunctions() []function {
	return []function{
		fn("LENGTH(x)", func(c *invocation) (any, error) {
			n, err := c.ev.memberOf(c.arg(0), "length")
			if t := TypeOf(c.arg(0)); err != nil || t == "array" || t == "string" {
				return n, err
			}
			return 0.0, nil
		}),
		fn("ARRAY_FIND(array, field, value)", func(c *invocation) (any, error) {
			i, err := c.find()
			if err != nil || i < 0 {
				return nil, err
			}
			return c.args[0].([]any)[i], nil
		}),
		fn("ARRAY_FIND_INDEX(array, field, value)", func(c *invocation) (any, error) {
			i, err := c.find()
			return float64(i), err
		}),
		fn("OBJECT_KEYS(object)", func(c *invocation) (any, error) {
			return c.members(func(m map[string]any, key string) any { return key })
		}),
		fn("OBJECT_VALUES(object)", func(c *invocation) (any, error) {
			return c.members(func(m map[string]any, key string) any { return m[key] })
		}),
		fn("OBJECT_MERGE(object, ...)", merge),
	}
}

// find searches an array for an object whose field equals a value. find returns the index of the
// first such object, or -1.
func (c *invocation) find() (int, error) {
	items, _ := c.arg(0).([]any)
	field, err := c.str(1)
	if err != nil {
		return -1, err
	}
	for i, item := range items {
		m, ok := item.(map[string]any)
		if err := c.ev.charge(1); err != nil {
			return -1, err
		}
		value, found := m[field]
		if !ok || !found {
			continue
		}
		if same, err := c.ev.equal(value, c.arg(2), 0); same || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// members returns an item for each key of an object. The items are in the order of the keys. If the
// argument is not an object, members returns no items.
func (c *invocation) members(item func(m map[string]any, key string) any) (any, error) {
	m, _ := c.arg(0).(map[string]any)
	if err := c.ev.charge(len(m) + sortCost(len(m))); err != nil {
		return nil, err
	}
	items := make([]any, 0, len(m))
	for _, key := range sortedKeys(m) {
		items = append(items, item(m, key))
	}
	return items, nil
}

// merge returns an object that contains the members of all its arguments. If several arguments have
// a member with the same name, the value of the last one is used. If an argument is not an object,
// it is skipped.
func merge(c *invocation) (any, error) {
	size := 0
	for _, arg := range c.args {
		m, _ := arg.(map[string]any)
		size = max(size, len(m))
	}
	merged := make(map[string]any, size)
	for _, arg := range c.args {
		if m, ok := arg.(map[string]any); ok {
			if err := c.ev.charge(3 * len(m)); err != nil {
				return nil, err
			}
			maps.Copy(merged, m)
		}
	}
	return merged, nil
}
