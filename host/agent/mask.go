package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// redacted replaces a sensitive value.
const redacted = "[redacted]"

// shown returns the display form of the value of a variable or a path.
func (p *program) shown(path string, value any) any {
	if value == nil || !p.sensitive(strings.Split(path, ".")) {
		return value
	}
	return redacted
}

// shownJSON returns the display form as JSON.
func (m *memory) shownJSON(path string, value any) json.RawMessage {
	content, err := json.Marshal(m.agent.shown(path, value))
	if err != nil {
		return nil
	}
	return content
}

// sensitive reports whether a path is or lies in a sensitive variable or fact.
func (p *program) sensitive(path []string) bool {
	if f, _ := p.fact(path); f != nil {
		return f.Sensitive != nil
	}
	v := p.variables[path[0]]
	return v != nil && v.Sensitive != nil
}

// display returns the scope of messages, in which sensitive values have their display form.
func (m *memory) display(ctx context.Context) abl.Scope { return displayScope{m.scope(ctx), m.agent} }

type displayScope struct {
	abl.Scope
	agent *program
}

// Lookup implements abl.Scope.
func (s displayScope) Lookup(path []string) (any, int, error) {
	value, n, err := s.Scope.Lookup(path)
	if err != nil || n == 0 || value == nil || !s.agent.sensitive(path[:n]) {
		return value, n, err
	}
	return redacted, len(path), nil
}
