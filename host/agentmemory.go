package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// blockRights returns the rights that agents have on the blocks of an app. Agents have all verbs on
// every block.
func blockRights(a *app.App) memory.Authority {
	var grants []declare.Grant
	for _, b := range a.Blocks {
		grants = append(grants, declare.Grant{Store: b.Name, Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}})
	}
	return memory.Granted(grants)
}

// blockID identifies a text of a user. blockID contains the name of a block. If the text belongs to
// an agent, blockID also contains the name of the agent.
type blockID struct{ name, agent string }

// UserMemory implements agent.Env. UserMemory returns nil if the caller has no user.
func (e *agentEnv) UserMemory(ctx context.Context, name string) (*report.MemoryContext, error) {
	h := e.turn.h
	if len(h.app.Blocks) == 0 || !e.hasUser() {
		return nil, nil
	}
	memory.SetAgent(e.view, name)
	message := ""
	if e.turn.req.Message != nil {
		message = *e.turn.req.Message
	}
	found, err := readPromptMemory(ctx, e.view, h, h.blockRights, message, e.turn.req.MemoryPolicy)
	if err != nil {
		return nil, err
	}
	for _, b := range h.app.Blocks {
		for _, id := range []blockID{{b.Name, ""}, {b.Name, name}} {
			if b.Use == declare.BlockContext && e.turn.req.MemoryPolicy.includes(block.Block{Agent: id.agent}) {
				e.shown(id, time.Time{})
			}
		}
	}
	for _, b := range found.blocks {
		e.shown(blockID{b.Name, b.Agent}, b.Updated)
	}
	return &found.MemoryContext, nil
}

// shown records which version of a text the agent knows. If the text does not exist, the version is
// the zero time.
func (e *agentEnv) shown(id blockID, updated time.Time) {
	if e.versions == nil {
		e.versions = map[blockID]time.Time{}
	}
	e.versions[id] = updated
}

// callMemory executes a memory tool. Memory tools read and change the blocks of the user. The
// result "known" is false if no memory tool has this name, or if the app declares a tool with this
// name.
func (e *agentEnv) callMemory(ctx context.Context, name, tool string, input json.RawMessage) (output any, known bool, err error) {
	if e.turn.h.tools[tool] != nil || len(e.turn.h.app.Blocks) == 0 {
		return nil, false, nil
	}
	var perform func(context.Context, string, json.RawMessage) (json.RawMessage, error)
	switch tool {
	case agent.RecallMemory:
		perform = e.recallMemory
	case agent.UpdateMemory:
		perform = e.updateMemory
	default:
		return nil, false, nil
	}
	memory.SetAgent(e.view, name)
	reply, err := perform(ctx, name, input)
	if err != nil {
		return nil, true, err
	}
	return output, true, json.Unmarshal(reply, &output)
}

// blockCall performs an operation on blocks for an agent.
func (e *agentEnv) blockCall(ctx context.Context, op string, args ...any) (json.RawMessage, error) {
	call := abi.Call{Op: op}
	for _, arg := range args {
		text, err := strictjson.Encode(arg)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "an argument of the operation %s is not a JSON value: %v", op, err)
		}
		call.Args = append(call.Args, bytes.Clone(text))
	}
	e.turn.calls++
	return e.view.CallWith(ctx, e.turn.h.blockRights, call)
}

// recallMemory executes the tool recall_memory, which searches the user's texts and the agent's
// texts.
func (e *agentEnv) recallMemory(ctx context.Context, _ string, input json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Query    *string  `json:"query"`
		Limit    *int     `json:"limit"`
		MinScore *float64 `json:"min_score"`
	}
	if err := decodeInput(agent.RecallMemory, input, &in); err != nil {
		return nil, err
	}
	if err := e.turn.last.onSearch(ctx); err != nil {
		return nil, err
	}
	options := map[string]any{"agent": true}
	if in.Limit != nil {
		options["limit"] = *in.Limit
	}
	if in.MinScore != nil {
		options["min_score"] = *in.MinScore
	}
	return e.blockCall(ctx, abi.Recall, in.Query, options)
}

// memoryUpdate is the input of the tool update_memory.
type memoryUpdate struct {
	Block    string      `json:"block"`
	Content  *string     `json:"content"`
	Append   bool        `json:"append"`
	Scope    block.Scope `json:"scope"`
	Expected *string     `json:"expected_updated_at"`
}

// updateMemory executes the tool update_memory. If the input has no expected_updated_at, the
// expected version is the version that the agent knows.
func (e *agentEnv) updateMemory(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	var in memoryUpdate
	if err := decodeInput(agent.UpdateMemory, input, &in); err != nil {
		return nil, err
	}
	id := blockID{name: cmp.Or(in.Block, declare.Core)}
	switch {
	case in.Content == nil:
		return nil, abi.Faultf(abi.InvalidArgument, "the content is missing")
	case in.Scope == block.ScopeAgent:
		id.agent = name
	case in.Scope != "" && in.Scope != block.ScopeUser:
		return nil, abi.Faultf(abi.InvalidArgument, "the scope of a block must not be %q", in.Scope).WithHint("use the scope \"user\" or \"agent\"")
	}
	options := map[string]any{"agent": id.agent != ""}
	content := *in.Content
	switch known, ok := e.versions[id]; {
	case in.Append:
		before, err := e.block(ctx, id)
		if err != nil {
			return nil, err
		}
		if before != nil {
			options["expected_updated_at"] = block.FormatTime(before.Updated)
			content = strings.TrimRight(before.Content, "\r\n") + "\n" + content
		}
		if in.Expected != nil {
			options["expected_updated_at"] = *in.Expected
		}
	case in.Expected != nil:
		options["expected_updated_at"] = *in.Expected
	case ok && !known.IsZero():
		options["expected_updated_at"] = block.FormatTime(known)
	}
	reply, err := e.blockCall(ctx, abi.UpdateBlock, id.name, content, options)
	if err != nil {
		return nil, err
	}
	var stored struct {
		Updated string `json:"updated_at"`
	}
	if err := json.Unmarshal(reply, &stored); err != nil {
		return nil, err
	}
	updated, _ := block.ParseTime(stored.Updated)
	e.shown(id, updated)
	return reply, nil
}

// block returns a text, or nil if the text does not exist.
func (e *agentEnv) block(ctx context.Context, id blockID) (found *block.Block, err error) {
	reply, err := e.blockCall(ctx, abi.GetBlock, id.name, map[string]any{"agent": id.agent != ""})
	if err != nil {
		return nil, err
	}
	return found, json.Unmarshal(reply, &found)
}

// decodeInput decodes the input of a tool on blocks.
func decodeInput(tool string, input json.RawMessage, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return abi.Faultf(abi.InvalidArgument, "the input of the tool %s does not match the parameters of the tool", tool).
			WithHint("see the reference of blocks for the parameters")
	}
	return nil
}
