package app

import (
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

var promptKeys = []string{"description", "template", "grants"}

// promptReader reads the section "prompts" of the app file.
type promptReader struct {
	fieldReader
	grants *grantReader
}

// prompts returns the declared prompts.
func (r *promptReader) prompts(n *node) []Prompt {
	own := func(name string) { r.own("", name) }
	var prompts []Prompt
	for _, m := range r.entries(n, "prompts", "prompt", own) {
		r.own("", m.key)
		prompts = append(prompts, r.prompt(m))
		r.own("", "")
	}
	return prompts
}

func (r *promptReader) prompt(m member) Prompt {
	p := Prompt{Prompt: declare.Prompt{Name: m.key}}
	r.checkToolName(m.position, m.key, "prompt")
	n := m.value
	if !r.named(m, "a prompt", promptKeys) {
		return p
	}
	p.Description = r.text(n.get("description"), "description")
	p.Grants = r.grants.grants(n.get("grants"))
	if p.text = n.get("template"); p.text != nil {
		p.Template = r.text(p.text, "template")
	} else if lacks(n, "template", promptKeys) {
		r.errorf(m.position, problem.MissingKey, `add template: "..."`, "prompt %s has no template", problem.Quote(m.key))
	}
	return p
}
