package host

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/report"
)

// MemoryContext is the part of a prompt that contains the texts of blocks.
type MemoryContext = report.MemoryContext

// MemoryPolicy determines which blocks go into a prompt or a turn. The zero value is the default
// policy. By default, the prompt contains the texts of the user and of the active agent, and no
// blocks are searched.
type MemoryPolicy struct {
	// ArchivalMode determines whether lines that match the message become system reminders in the
	// prompt. The default is ArchivalToolOnly.
	ArchivalMode ArchivalMode `json:"archival_mode,omitempty"`
	// ArchivalLimit is the maximum number of reminders, up to block.MaxLimit. Default: 10.
	ArchivalLimit int `json:"archival_limit,omitempty"`
	// ArchivalMinScore is the minimum score of a reminder. Nil means no minimum.
	ArchivalMinScore *float64 `json:"archival_min_score,omitempty"`
	// IncludeUserCore determines whether the prompt contains those blocks of the user whose use is
	// "context". IncludeAgentCore determines whether the prompt contains those blocks of the active
	// agent whose use is "context". Nil means true.
	IncludeUserCore  *bool `json:"include_user_core,omitempty"`
	IncludeAgentCore *bool `json:"include_agent_core,omitempty"`
}

// ArchivalMode determines how a prompt uses the lines of searchable blocks.
type ArchivalMode string

// The archival modes.
const (
	ArchivalToolOnly ArchivalMode = "tool_only" // only tools and API calls search the blocks
	ArchivalAuto     ArchivalMode = "auto"      // lines that match the message become system reminders
	ArchivalOff      ArchivalMode = "off"       // has the same effect as ArchivalToolOnly
)

// check returns a fault if a policy is invalid.
func (p MemoryPolicy) check() error {
	switch p.ArchivalMode {
	case "", ArchivalToolOnly, ArchivalAuto, ArchivalOff:
	default:
		return abi.Faultf(abi.InvalidArgument, "the value %q of archival_mode is not valid", p.ArchivalMode).WithHint("use \"tool_only\", \"auto\" or \"off\"")
	}
	if p.ArchivalLimit < 0 || p.ArchivalLimit > block.MaxLimit {
		return abi.Faultf(abi.InvalidArgument, "the archival_limit is %d, but must be from 1 to %d", p.ArchivalLimit, block.MaxLimit)
	}
	if s := p.ArchivalMinScore; s != nil && !(*s >= 0 && *s <= 1) {
		return abi.Faultf(abi.InvalidArgument, "the archival_min_score is %v, but must be from 0 to 1", *s)
	}
	return nil
}

// includes reports whether a policy includes a block. The use of this block must be "context".
func (p MemoryPolicy) includes(b block.Block) bool {
	if b.Agent != "" {
		return p.IncludeAgentCore == nil || *p.IncludeAgentCore
	}
	return p.IncludeUserCore == nil || *p.IncludeUserCore
}

// query returns the search that finds the reminders for a message.
func (p MemoryPolicy) query(message string) block.Query {
	q := block.Query{Text: message, Limit: block.DefaultLimit}
	if p.ArchivalLimit > 0 {
		q.Limit = p.ArchivalLimit
	}
	if p.ArchivalMinScore != nil {
		q.MinScore = *p.ArchivalMinScore
	}
	return q
}

// Context returns the part of a prompt that comes from the blocks of the caller's user and agent.
// The policy p selects the blocks. The argument "message" is the message of the user that the model
// must answer. All blocks are read from one snapshot. If the app has no blocks, the error is
// abi.NotFound.
func (b Blocks) Context(ctx context.Context, caller Caller, message string, p MemoryPolicy) (MemoryContext, error) {
	if err := b.requireBlocks(); err != nil {
		return MemoryContext{}, err
	}
	var found promptMemory
	err := b.perform(ctx, caller, true, func(ctx context.Context, v *memory.View) (err error) {
		found, err = readPromptMemory(ctx, v, b.h, b.authority, message, p)
		return err
	})
	return found.MemoryContext, err
}

// promptMemory contains a MemoryContext, and the blocks from which it was made.
type promptMemory struct {
	MemoryContext
	blocks []block.Block
}

// readPromptMemory reads the part of a prompt that comes from blocks. The Authority a determines
// which blocks the prompt can contain.
func readPromptMemory(ctx context.Context, v *memory.View, h *Host, a memory.Authority, message string, p MemoryPolicy) (found promptMemory, err error) {
	found.SystemReminders = []string{}
	if err := p.check(); err != nil {
		return found, err
	}
	if len(message) > block.MaxQueryBytes {
		return found, abi.Faultf(abi.TooLarge, "the message has %d bytes; the limit is %d", len(message), block.MaxQueryBytes)
	}
	uses := []declare.BlockUse{declare.BlockContext}
	if p.ArchivalMode == ArchivalAuto {
		uses = append(uses, declare.BlockRecall)
	}
	all, err := memory.PeekBlocks(ctx, v, a, uses...)
	if err != nil {
		return found, err
	}
	var searched []block.Block
	q := p.query(message)
	for _, b := range all {
		declared, _ := h.app.Store(b.Name)
		switch {
		case declared.Block.Use == declare.BlockRecall:
			searched, q.Language = append(searched, b), declared.Block.Language
		case p.includes(b):
			found.blocks = append(found.blocks, b)
		}
	}
	found.UserMemory = userMemoryText(found.blocks)
	matches, err := block.Search(searched, q)
	for _, m := range matches {
		found.SystemReminders = append(found.SystemReminders, m.Content)
	}
	return found, err
}

// userMemoryText returns the texts of blocks. Each text has a heading.
func userMemoryText(blocks []block.Block) string {
	var b strings.Builder
	for _, text := range blocks {
		content := strings.TrimSpace(text.Content)
		if content == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("# " + text.Name)
		if text.Agent != "" {
			b.WriteString(" (agent " + text.Agent + ")")
		}
		b.WriteString("\n" + content)
	}
	return b.String()
}

// RecallQuery is a search. RecallQuery searches the lines of those blocks whose use is "recall".
type RecallQuery struct {
	Query string
	// Limit is the maximum number of results, up to block.MaxLimit. Default: 10.
	Limit int
	// MinScore is the minimum score of a result. If MinScore is 0, a result can have any score.
	MinScore float64
	// If Agent is true, the blocks of the caller's agent are also searched.
	Agent bool
}

// Recall searches the caller's blocks and returns the lines that match a query, sorted by score. If
// the app has no blocks, the error is abi.NotFound.
func (b Blocks) Recall(ctx context.Context, caller Caller, q RecallQuery) ([]block.Match, error) {
	if err := b.requireBlocks(); err != nil {
		return nil, err
	}
	options, err := json.Marshal(struct {
		Limit    int     `json:"limit,omitempty"`
		MinScore float64 `json:"min_score,omitempty"`
		Agent    bool    `json:"agent"`
	}{q.Limit, q.MinScore, q.Agent})
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the minimum score is not a number")
	}
	var reply struct{ Results []block.Match }
	err = b.perform(ctx, caller, true, func(ctx context.Context, v *memory.View) error {
		text, err := v.Call(ctx, abi.Call{Op: abi.Recall, Args: []json.RawMessage{quoted(q.Query), options}})
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &reply)
	})
	return reply.Results, err
}
