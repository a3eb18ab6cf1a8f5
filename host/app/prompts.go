package app

import "github.com/toolrun/toolrun/host/declare"

var promptKeys = []string{"description", "template", "grants"}

func (l *load) readPrompts(n *node) []Prompt {
	own := func(name string) { l.own("", name) }
	var prompts []Prompt
	for _, m := range l.entries(n, "prompts", "prompt", own) {
		l.own("", m.key)
		prompts = append(prompts, l.readPrompt(m))
		l.own("", "")
	}
	return prompts
}

func (l *load) readPrompt(m member) Prompt {
	p := Prompt{Prompt: declare.Prompt{Name: m.key}}
	l.checkToolName(m.place, m.key, "prompt")
	n := m.value
	if !l.named(m, "a prompt", promptKeys) {
		return p
	}
	p.Description = l.text(n.get("description"), "description")
	p.Grants = l.grants(n.get("grants"))
	if p.text = n.get("template"); p.text != nil {
		p.Template = l.text(p.text, "template")
	} else if lacks(n, "template", promptKeys) {
		l.errorf(m.place, MissingKey, `add template: "..."`, "the prompt %s has no template", quote(m.key))
	}
	return p
}
