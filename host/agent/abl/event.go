package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// ParseEvent parses an event such as "tool:search:after". If err is not nil, it is a Problem.
func ParseEvent(text string) (Event, error) {
	e, mistake := parseEvent(text)
	if mistake != nil {
		return Event{}, *mistake
	}
	return e, nil
}

func parseEvent(text string) (Event, *problem.Problem) {
	var e Event
	parts := strings.Split(text, ":")
	switch {
	case text == "session:start" || text == "session:end" || text == "search:before":
		e.Kind, e.Moment = parts[0], parts[1]
	case len(parts) == 3 && parts[0] == "step" && (parts[1] == "enter" || parts[1] == "exit"):
		e.Kind, e.Moment, e.Name = parts[0], parts[1], parts[2]
	case len(parts) == 3 && slices.Contains([]string{"agent:before", "agent:after", "tool:after", "entity:extracted"}, parts[0]+":"+parts[2]):
		e.Kind, e.Name, e.Moment = parts[0], parts[1], parts[2]
	}
	named := e.Kind != "session" && e.Kind != "search"
	if e.Kind != "" && (!named || e.Name == "*" || isName(e.Name) || e.Kind == "entity" && isPath(e.Name)) {
		return e, nil
	}
	hint := "write session:start, session:end, search:before, agent:NAME:before, agent:NAME:after, tool:NAME:after, entity:FIELD:extracted, step:enter:NAME or step:exit:NAME"
	if len(parts) == 3 && parts[0] == "tool" && parts[2] == "before" {
		hint = "a recall can run after a tool, but not before a tool: write tool:" + parts[1] + ":after"
	}
	p := problemAt(Position{}, problem.BadValue, hint, "the text %s is not an event", problem.Quote(text))
	return Event{}, &p
}

// String returns the event in the syntax of agent files.
func (e Event) String() string {
	switch {
	case e.Name == "":
		return e.Kind + ":" + e.Moment
	case e.Kind == "step":
		return e.Kind + ":" + e.Moment + ":" + e.Name
	default:
		return e.Kind + ":" + e.Name + ":" + e.Moment
	}
}

// Matches reports whether a declared event matches an event that fired. The declared name "*"
// matches every name.
func (e Event) Matches(fired Event) bool {
	return e.Kind == fired.Kind && e.Moment == fired.Moment && (e.Name == "*" || e.Name == fired.Name)
}
