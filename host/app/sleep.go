package app

import (
	"strings"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

var sleepKeys = []string{"after", "tool", "model", "user_core"}

// sleepReader reads the section "sleep" of the app file.
type sleepReader struct{ fieldReader }

// sleep returns the declaration of sleep-time memory. If the file has no section "sleep", sleep
// returns nil. The tools of the app must be read before sleep is called.
func (r sleepReader) sleep(n *node, a *App) *declare.Sleep {
	if n == nil || n.kind == null || !r.keys(n, "sleep", sleepKeys) {
		return nil
	}
	s := &declare.Sleep{After: declare.DefaultSleepAfter}
	if after := n.get("after"); after != nil {
		s.After = r.duration(after, "after", declare.MinSleepAfter, declare.MaxSleepAfter)
	}
	core := r.flag(n.get("user_core"), "user_core")
	s.UserCore = core != nil && *core
	s.Tool = r.tool(n.get("tool"), a)
	a.sleepModel = n.get("model")
	s.Model = r.model(a.sleepModel)
	if has := n.get("tool") != nil; has == (n.get("model") != nil) {
		r.source(n, has)
	}
	if len(a.Blocks) == 0 {
		r.errorf(n.position, problem.MissingKey, "add blocks: true", "the section `sleep` requires blocks")
	}
	return s
}

// The method "source" reports that the section "sleep" names both a tool and a model, or neither of
// them. The section must name exactly one of them.
func (r sleepReader) source(n *node, both bool) {
	if both {
		r.errorf(n.position, problem.MissingKey, "remove the key `tool` or the key `model`", "the section `sleep` names both a tool and a model")
		return
	}
	r.errorf(n.position, problem.MissingKey, "add `tool: NAME` or `model: NAME`", "the section `sleep` names neither a tool nor a model")
}

// tool returns the name of a declared tool.
func (r sleepReader) tool(n *node, a *App) string {
	if n == nil {
		return ""
	}
	name := r.text(n, "tool")
	t, ok := a.Tool(name)
	if before := t.Approval.Before; len(before) > 0 {
		r.warnf(n.position, problem.Contradiction, "use another tool, or remove the approval from the tool",
			"the tool %s requires an approval for %s, but sleep-time memory cannot wait for an approval; a run fails if it uses this operation", problem.Quote(name), strings.Join(before, ", "))
	}
	if ok || n.kind != text {
		return name
	}
	known := make([]string, len(a.Tools))
	for i, t := range a.Tools {
		known[i] = t.Name
	}
	r.errorf(n.position, problem.BadValue, didYouMean(name, known), "the section `sleep` uses the tool %s, but the app does not declare this tool", problem.Quote(name))
	return ""
}

// model returns the name of a model. Whether this model exists is known only to the operator of a
// host.
func (r sleepReader) model(n *node) string {
	if n == nil {
		return ""
	}
	name := r.text(n, "model")
	if n.kind == text && !modelName().MatchString(name) {
		r.errorf(n.position, problem.BadName, modelNameHint, "the text %s is not a valid name of a model", problem.Quote(name))
	}
	return name
}

// exportedSleep is the declaration of sleep-time memory in an exported app.
type exportedSleep struct {
	After    string `json:"after"`
	Tool     string `json:"tool,omitempty"`
	Model    string `json:"model,omitempty"`
	UserCore bool   `json:"user_core,omitempty"`
}

func exportSleep(s *declare.Sleep) *exportedSleep {
	if s == nil {
		return nil
	}
	return &exportedSleep{After: formatDuration(s.After), Tool: s.Tool, Model: s.Model, UserCore: s.UserCore}
}
