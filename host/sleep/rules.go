package sleep

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/host/declare"
)

// MaxProposals is the maximum number of proposals in an answer. Further proposals are rejected.
const MaxProposals = 64

// Blocks returns the texts that a user and an agent can have, without their contents. The texts of
// an agent are omitted if hasAgent is false. The user's blocks that are included in prompts are
// writable only if userCore is true.
func Blocks(declared []declare.Block, hasAgent, userCore bool) []Block {
	var all []Block
	for _, d := range declared {
		b := Block{
			Name: d.Name, Scope: ScopeUser, Use: string(d.Use), Description: d.Description,
			Characters: d.Characters, Entries: d.Entries, Writable: userCore || d.Use != declare.BlockContext,
		}
		all = append(all, b)
		if hasAgent {
			b.Scope, b.Writable = ScopeAgent, true
			all = append(all, b)
		}
	}
	return all
}

// Target returns the text that a proposal changes, or the reason for its rejection. The reason
// contains no part of the proposal except a declared name and a scope.
func (p Proposal) Target(blocks []Block) (target *Block, reason string) {
	switch p.Scope {
	case "":
		return nil, "the proposal has no scope; set it to user or agent"
	case ScopeUser, ScopeAgent:
	default:
		return nil, "the scope is unknown; use \"user\" or \"agent\""
	}
	named := false
	for i := range blocks {
		b := &blocks[i]
		named = named || b.Name == p.Block
		if b.Name == p.Block && b.Scope == p.Scope {
			return p.allowed(b)
		}
	}
	if named {
		return nil, fmt.Sprintf("the conversation had no agent, so the block %s with the scope %s does not exist", p.Block, p.Scope)
	}
	return nil, "the app has no such block"
}

// allowed returns b if a proposal can replace the text b. Otherwise, allowed returns the reason why
// the proposal is rejected.
func (p Proposal) allowed(b *Block) (target *Block, reason string) {
	switch {
	case !b.Writable:
		return nil, fmt.Sprintf("the block %s with the scope %s is not writable without user_core: true in the app file", b.Name, b.Scope)
	case b.Content != "" && strings.TrimSpace(p.Content) == "":
		return nil, fmt.Sprintf("the content for the block %s with the scope %s is empty; a proposal cannot empty a block", b.Name, b.Scope)
	}
	return b, ""
}

// Names returns the block and the scope of a proposal, for use in a log. Names replaces every name
// that is not declared, because a model can copy a part of the conversation into a name.
func (p Proposal) Names(blocks []Block) (block, scope string) {
	block, scope = "unknown", "unknown"
	for _, b := range blocks {
		if b.Name == p.Block {
			block = b.Name
		}
	}
	if p.Scope == ScopeUser || p.Scope == ScopeAgent {
		scope = p.Scope
	}
	return block, scope
}
