package host

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/block"
)

// RecallQuery is a search over the blocks with the use recall.
type RecallQuery struct {
	Query string
	// Limit is the maximum number of results. Default: 10.
	Limit int
	// MinScore excludes results with a lower score. The default 0 excludes none.
	MinScore float64
	// Agent also searches the blocks of the caller's agent.
	Agent bool
}

// MemoryPolicy determines which blocks go into a prompt or a turn. The zero value is the default.
type MemoryPolicy struct {
	// ArchivalMode determines whether results of a search for the message become system reminders. The
	// default is ArchivalToolOnly.
	ArchivalMode ArchivalMode `json:"archival_mode,omitempty"`
	// ArchivalLimit is the maximum number of reminders. Default: 10.
	ArchivalLimit int `json:"archival_limit,omitempty"`
	// ArchivalMinScore excludes results with a lower score. Nil excludes none.
	ArchivalMinScore *float64 `json:"archival_min_score,omitempty"`
	// IncludeUserCore and IncludeAgentCore include the blocks with the use context. Nil means true.
	IncludeUserCore  *bool `json:"include_user_core,omitempty"`
	IncludeAgentCore *bool `json:"include_agent_core,omitempty"`
}

// ArchivalMode is a use of the blocks that are searched.
type ArchivalMode string

// The archival modes.
const (
	ArchivalToolOnly ArchivalMode = "tool_only" // only tools and API calls search
	ArchivalAuto     ArchivalMode = "auto"      // the best matches for the message become system reminders
	ArchivalOff      ArchivalMode = "off"       // no automatic search
)

// MemoryContext is the part of a prompt that comes from blocks.
type MemoryContext struct {
	// UserMemory is the text of the blocks with the use context.
	UserMemory string `json:"user_memory"`
	// SystemReminders are the lines that a search for the message has found.
	SystemReminders []string `json:"system_reminders"`
}

// Recall searches the lines of the blocks with the use recall and returns the best matches, the best
// first.
func (b Blocks) Recall(context.Context, Caller, RecallQuery) ([]block.Match, error) {
	return nil, abi.Faultf(abi.Unavailable, "the search over blocks is not implemented")
}

// Context returns what a policy takes from the blocks of the caller's user and agent into a prompt with
// a message of the user.
func (b Blocks) Context(context.Context, Caller, string, MemoryPolicy) (MemoryContext, error) {
	return MemoryContext{}, abi.Faultf(abi.Unavailable, "the context of blocks is not implemented")
}
