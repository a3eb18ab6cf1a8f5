package agent

import "encoding/json"

// ShowFact returns the value of a fact, which is JSON, in the form in which it can be displayed.
func (s *Set) ShowFact(path string, value json.RawMessage) json.RawMessage {
	if s.masks.find(path) == "" {
		return value
	}
	return shown(value, func(v any) any { return s.masks.show(path, v) })
}

// ShowState returns the state of an agent, which is JSON, in the form in which it can be displayed.
func (s *Set) ShowState(agent string, state json.RawMessage) json.RawMessage {
	return s.showMember(agent, "variables", state)
}

// ShowSession returns the state of a session, which is JSON, in the form in which it can be displayed.
func (s *Set) ShowSession(state json.RawMessage) json.RawMessage {
	return s.showMember("", "injected", state)
}

// ShowKept returns the variables of an agent that no session resets, which are JSON, in the form in which
// they can be displayed.
func (s *Set) ShowKept(agent string, variables json.RawMessage) json.RawMessage {
	m := s.masksOf(agent)
	if len(m) == 0 {
		return variables
	}
	return shown(variables, func(v any) any {
		object, _ := v.(map[string]any)
		m.showAll(object, &secrets{})
		return v
	})
}

// showMember returns a state in which a member contains the values. The other members can contain parts
// of these values, such as the output of a tool.
func (s *Set) showMember(agent, member string, state json.RawMessage) json.RawMessage {
	m := s.masksOf(agent)
	if len(m) == 0 {
		return state
	}
	return shown(state, func(v any) any {
		object, _ := v.(map[string]any)
		values, _ := object[member].(map[string]any)
		var found secrets
		m.showAll(values, &found)
		found = found.sorted()
		for key := range object {
			if key != member {
				object[key] = found.cleanValue(object[key])
			}
		}
		return v
	})
}

// masksOf returns the masks of an agent, or those of facts if there is no such agent.
func (s *Set) masksOf(agent string) masks {
	if p := s.agents[agent]; p != nil {
		return p.masks
	}
	return s.masks
}

// showAll replaces values by their displayed forms, and adds the sensitive ones to found.
func (m masks) showAll(values map[string]any, found *secrets) {
	for name, value := range values {
		found.add(m, name, value)
		values[name] = m.show(name, value)
	}
}

// shown applies a function to a JSON value. Content that is not JSON is not shown.
func shown(content json.RawMessage, show func(any) any) json.RawMessage {
	if len(content) == 0 {
		return content
	}
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		return json.RawMessage(`"` + redacted + `"`)
	}
	result, err := json.Marshal(show(value))
	if err != nil {
		return json.RawMessage(`"` + redacted + `"`)
	}
	return result
}
