package cli

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
)

func (ac agentCommands) eval() *cobra.Command {
	var vars string
	cmd := &cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Evaluate an expression in the language of agents",
		Long: `Evaluate an expression and print its value as JSON. With --json, also print the type of the value and the warnings. The
exit code is 2 if the expression cannot be evaluated.`,
		Example: `  toolrun agent eval 'UPPER(name) + "!"' --vars '{"name": "Ann"}'
  toolrun agent eval 'user.age >= 18' --vars @vars.json --json`,
		Args: takes(1, 1, "one EXPRESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ac.evaluate(cmd.Context(), args[0], vars)
		},
	}
	cmd.Flags().StringVar(&vars, "vars", "", "the variables as a `JSON` object, @file or - for stdin; a name can be a path such as user.name")
	return cmd
}

// evaluation is the JSON output of the command agent eval.
type evaluation struct {
	Value    any           `json:"value"`
	Type     string        `json:"type"`
	Warnings []abl.Warning `json:"warnings"`
}

func (ac agentCommands) evaluate(ctx context.Context, source, vars string) error {
	variables := abl.Variables{}
	document, err := ac.env.document(ctx, "--vars", vars)
	if err != nil {
		return err
	}
	if document != nil {
		if err := json.Unmarshal(document, &variables); err != nil || variables == nil {
			return usagef(`write an object: --vars '{"name": "Ann"}'`, "--vars is not a JSON object")
		}
	}
	e, err := abl.ParseExpr(source)
	if mistake, ok := errors.AsType[problem.Problem](err); ok {
		return usagef(mistake.Hint, "%d:%d: %s", mistake.Line, mistake.Column, mistake.Message)
	}
	r, err := e.Eval(variables, abl.Options{Now: ac.env.Now(), Random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))})
	if err != nil {
		return usagef("", "%v", err)
	}
	result := evaluation{Value: abl.Plain(r.Value), Type: abl.TypeOf(r.Value), Warnings: append([]abl.Warning{}, r.Warnings...)}
	return ac.out.answer(result, func() error {
		for _, w := range r.Warnings {
			ac.out.warn("%s: %s", w.Position, w.Message)
		}
		return ac.out.printJSON(result.Value)
	})
}
