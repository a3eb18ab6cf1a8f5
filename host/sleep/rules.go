package sleep

import (
	"fmt"

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

// Target returns the text that a proposal changes, or the reason for its rejection.
func (p Proposal) Target(blocks []Block) (target *Block, reason string) {
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.Name != p.Block || b.Scope != p.Scope:
		case b.Writable:
			return b, ""
		default:
			return nil, fmt.Sprintf("the block %s with the scope %s is not writable", b.Name, b.Scope)
		}
	}
	return nil, "there is no such block with this scope"
}
