package cli

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// registerMemoryPolicy registers the flag --memory-policy. The flag selects which of the user's
// blocks a prompt or a turn contains.
func registerMemoryPolicy(cmd *cobra.Command, policy *string) {
	cmd.Flags().StringVar(policy, "memory-policy", "", `the policy for blocks, as `+"`JSON`"+`, @file or -, such as '{"archival_mode": "auto"}'`)
}

// memoryPolicy reads the value of the flag --memory-policy.
func (e Env) memoryPolicy(ctx context.Context, arg string) (p host.MemoryPolicy, err error) {
	text, err := e.document(ctx, "--memory-policy", arg)
	if err != nil || text == nil {
		return p, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, usagef("use only the members archival_mode, archival_limit, archival_min_score, include_user_core and include_agent_core",
			"--memory-policy is not a policy for blocks")
	}
	return p, nil
}

// sentPolicy converts a policy to the format of requests to a server.
func sentPolicy(p host.MemoryPolicy) *apitypes.MemoryPolicy {
	sent := &apitypes.MemoryPolicy{ArchivalMinScore: p.ArchivalMinScore, IncludeUserCore: p.IncludeUserCore, IncludeAgentCore: p.IncludeAgentCore}
	if p.ArchivalMode != "" {
		mode := string(p.ArchivalMode)
		sent.ArchivalMode = &mode
	}
	if p.ArchivalLimit != 0 {
		sent.ArchivalLimit = &p.ArchivalLimit
	}
	return sent
}
