package agent

import "encoding/json"

// ShowFact returns the display form of the value of a fact. The value and its display form are
// JSON.
func (s *Set) ShowFact(path string, value json.RawMessage) json.RawMessage {
	if s.masks.find(path) == "" {
		return value
	}
	return shown(value, func(v any) any { return s.masks.show(path, v) })
}

// ShowState returns the display form of the state of an agent. The state and its display form are
// JSON.
func (s *Set) ShowState(agent string, state json.RawMessage) json.RawMessage {
	return s.showMember(agent, "variables", state)
}

// ShowSession returns the display form of the state of a session. The state and its display form
// are JSON.
func (s *Set) ShowSession(state json.RawMessage) json.RawMessage {
	return s.showMember("", "injected", state)
}

// ShowKept returns the display form of the variables of an agent that are never reset. The
// variables and their display form are JSON.
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

// showMember returns the display form of a state. In the given member, showMember replaces each
// value by its display form. In all other members, such as the output of a tool, showMember hides
// the sensitive values that occur in the given member.
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

// masksOf returns the masks of the agent that has the given name. If the agent does not exist,
// masksOf returns the masks of all facts of the app.
func (s *Set) masksOf(agent string) masks {
	if p := s.agents[agent]; p != nil {
		return p.masks
	}
	return s.masks
}

// showAll replaces values by their display forms. showAll also adds the sensitive values to the
// argument "found".
func (m masks) showAll(values map[string]any, found *secrets) {
	for name, value := range values {
		found.add(m, name, value)
		values[name] = m.show(name, value)
	}
}

// shown decodes JSON, passes the value to the function "show", and returns the result as JSON.
// Content that is not JSON is hidden completely.
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
