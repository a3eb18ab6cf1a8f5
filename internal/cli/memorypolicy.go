package cli

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
)

// registerMemoryPolicy registers the flag for the policy of blocks.
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
		return p, usagef("its members are archival_mode, archival_limit, archival_min_score, include_user_core and include_agent_core",
			"--memory-policy is not a policy for blocks")
	}
	return p, nil
}
