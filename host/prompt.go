package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/template"
)

// Rendered is a rendered template.
type Rendered struct {
	Text string
	// Missing lists the expressions whose value is null or does not exist. An example is
	// memory.prefs.language. These expressions are rendered as "". Each expression is listed once.
	Missing []string
	// SystemReminders contains the lines of the user's blocks that match the message, if the policy
	// of the request is ArchivalAuto.
	SystemReminders []string
}

// PromptRequest is a request to render a declared prompt.
type PromptRequest struct {
	// Prompt is the name of the prompt.
	Prompt string
	Caller Caller
	// MemoryPolicy determines the value of {{memory.user_memory}}. MemoryPolicy also determines
	// which reminders the result contains.
	MemoryPolicy MemoryPolicy
	// Message is the message of the user. If the policy is ArchivalAuto, Message is also the query
	// that finds the reminders.
	Message string
}

// Render renders a declared prompt for a caller. Render reads only stores and facts that are
// granted to the prompt. Render reads all of them from one snapshot.
func (h *Host) Render(ctx context.Context, caller Caller, prompt string) (string, error) {
	rendered, err := h.RenderPrompt(ctx, PromptRequest{Prompt: prompt, Caller: caller})
	return rendered.Text, err
}

// RenderPrompt is like Render, but also applies a policy for blocks. RenderPrompt also returns the
// expressions whose values are missing.
func (h *Host) RenderPrompt(ctx context.Context, r PromptRequest) (Rendered, error) {
	declared, ok := h.app.Prompt(r.Prompt)
	if !ok {
		return Rendered{}, abi.Faultf(abi.NotFound, "the prompt %q does not exist", r.Prompt)
	}
	if len(declared.Broken) > 0 {
		return Rendered{}, abi.Faultf(abi.SourceInvalid, "the declaration of the prompt %q has errors: %v", r.Prompt, declared.Broken)
	}
	rendered, err := render(ctx, h, r, declared.Template, memory.Granted(declared.Grants))
	return rendered, promptFault(h.app, err)
}

// promptFault replaces the message of the fault not_found for a store or a fact, because the
// message from package memory mentions tools. Usually, promptFault also replaces the hint.
// promptFault returns other errors unchanged.
func promptFault(a *app.App, err error) error {
	f, ok := err.(*abi.Fault)
	if !ok || f.Code != abi.NotFound || f.Store == "" {
		return err
	}
	g := *f
	if f.Store == declare.Facts {
		g.Message = fmt.Sprintf("the fact %q does not exist or was not granted to the prompt", f.Item)
		g.Hint = "declare the fact in the app file and grant the fact to the prompt: grants: {" + f.Item + ": read}"
		return &g
	}
	noun, hint := "store", "declare the store in the app file, and grant the store to the prompt with `grants: {%s: read}`"
	if isBlock(a, f.Store) {
		noun, hint = "block", "grant the block to the prompt with `grants: {%s: read}`"
	}
	g.Message = fmt.Sprintf("the %s %q does not exist or was not granted to the prompt", noun, f.Store)
	if !strings.HasPrefix(f.Hint, "did you mean") {
		g.Hint = fmt.Sprintf(hint, f.Store)
	}
	return &g
}

// isBlock reports whether an app declares a block with the given name.
func isBlock(a *app.App, name string) bool {
	return slices.ContainsFunc(a.Blocks, func(b declare.Block) bool { return b.Name == name })
}

// factOf returns a function that reports whether an app declares a fact.
func factOf(a *app.App) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(a.Facts, func(f declare.Fact) bool { return f.Path == path })
	}
}

// Refs returns the stores, fields and facts that a declared prompt reads. The result does not
// depend on the caller. If the prompt cannot be parsed, Refs returns nil.
func (h *Host) Refs(prompt string) []template.Ref {
	declared, _ := h.app.Prompt(prompt)
	t, err := template.Parse(declared.Template)
	if err != nil {
		return nil
	}
	return t.Refs(factOf(h.app))
}

// RenderText renders an arbitrary template for a caller. RenderText is meant for operators, because
// the template can read every store.
func (h *Host) RenderText(ctx context.Context, caller Caller, text string) (string, error) {
	rendered, err := h.RenderTemplate(ctx, PromptRequest{Caller: caller}, text)
	return rendered.Text, err
}

// RenderTemplate is like RenderText, but also applies a policy for blocks. RenderTemplate ignores
// r.Prompt.
func (h *Host) RenderTemplate(ctx context.Context, r PromptRequest, text string) (Rendered, error) {
	r.Caller = h.Sessions().withUser(ctx, r.Caller)
	return render(ctx, h, r, text, memory.Operator())
}

// render renders a template for a caller. The Authority determines which stores the template can
// read.
func render(ctx context.Context, h *Host, r PromptRequest, text string, a memory.Authority) (rendered Rendered, err error) {
	t, err := template.Parse(text)
	if err != nil {
		return rendered, templateFault(err)
	}
	id, err := h.newID("render")
	if err != nil {
		return rendered, err
	}
	a = memory.ReadOnly(a)
	body := func(ctx context.Context, v *memory.View) (err error) {
		p := promptSource{h, v, a, r}
		if rendered.SystemReminders, err = p.reminders(ctx); err != nil {
			return err
		}
		rendered.Text, rendered.Missing, err = t.RenderFrom(template.Source{
			Store:  func(store string) (json.RawMessage, error) { return p.store(ctx, store) },
			Fact:   func(path string) (json.RawMessage, error) { return get(ctx, v, abi.GetFact, path) },
			IsFact: factOf(h.app),
		})
		return err
	}
	var done memory.Done
	err = h.admitted(ctx, r.Caller, func() (err error) {
		done, err = h.memory.Transact(ctx, &memory.Tx{Caller: r.Caller.as(id), Authority: a, ReadOnly: true}, body)
		return err
	})
	h.ledger.recordAct(r.Caller, id, actRender, done.Effects, err)
	return rendered, err
}

// get performs an operation that reads a store or a fact.
func get(ctx context.Context, v *memory.View, op, name string) (json.RawMessage, error) {
	text, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	value, err := v.Call(ctx, abi.Call{Op: op, Args: []json.RawMessage{text}})
	if f, ok := errors.AsType[*abi.Fault](err); ok && op == abi.GetFact && f.Item == "" { // the app has no facts
		named := *f
		named.Item = name
		err = &named
	}
	return value, err
}

func templateFault(err error) error {
	bad, ok := errors.AsType[*template.Error](err)
	if !ok {
		return err
	}
	f := abi.Faultf(abi.SourceInvalid, "the template: %s", bad.Message)
	f.Line, f.Column, f.Hint = bad.Line, bad.Column, bad.Hint
	return f
}
