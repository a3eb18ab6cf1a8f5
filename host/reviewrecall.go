package host

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/problem"
)

// checkRecall checks a call of recall, which searches all blocks that the tool can read.
func checkRecall(a *app.App, t app.Tool, call engine.MemoryCall) (Finding, bool) {
	finding := findingAt(call.Position)
	if len(a.Blocks) == 0 {
		return finding(problem.UnknownStore, "add `blocks: true` to the app file", "the app has no blocks")
	}
	var verbs []abi.Verb // every app with blocks has the block "archival"
	for _, g := range t.Grants {
		if g.Store == declare.Archival {
			verbs = append(verbs, g.Verbs...)
		}
		searched := slices.ContainsFunc(a.Blocks, func(b declare.Block) bool { return b.Name == g.Store && b.Use == declare.BlockRecall })
		if searched && g.Allows(abi.Read) {
			return Finding{}, false
		}
	}
	return finding(problem.MissingGrant, grantHint(declare.Archival, append(verbs, abi.Read)...), "the tool searches blocks, but has no read grant on any block")
}
