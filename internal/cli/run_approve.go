package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// approvingRuns is a runBackend for a terminal. If an effect waits for an approval, approvingRuns
// asks the person at the terminal. If a run was paused, the returned Result is the Result after the
// last decision.
type approvingRuns struct {
	runBackend
	out       *console
	approvals approvalBackend
	// lines reads the answers of the person.
	lines *lineScanner
	// once is true if no other command can continue the run.
	once bool
}

// approving returns a runBackend that asks about effects if the flag --approve is set. Otherwise,
// it returns the given runBackend.
func (f *runFlags) approving(out *console, runs runBackend, approvals approvalBackend) (_ runBackend, closed func()) {
	if !f.approve {
		return runs, func() {}
	}
	lines := newLineScanner(out.env.Stdin)
	return &approvingRuns{runs, out, approvals, lines, f.byPath}, func() { close(lines.closed) }
}

// checkApprove returns an error if the command cannot ask a person for an approval.
func (f *runFlags) checkApprove(env Env) error {
	if !f.approve {
		return nil
	}
	if f.dry { // f.dry is also true with --test
		return usagef("omit one of the conflicting flags", "--approve cannot be combined with a dry run, which waits for no approval")
	}
	if stdin, ok := env.Stdin.(*os.File); !ok || !IsTerminal(stdin) || !env.StderrTerminal {
		return usagef("omit --approve, and approve the effect with `toolrun approval approve TOKEN`", "--approve asks a person and requires a terminal")
	}
	return nil
}

// Run runs a tool and asks about each effect that requires an approval.
func (a *approvingRuns) Run(ctx context.Context, inv host.Invocation) (*report.Result, error) {
	result, err := a.runBackend.Run(ctx, inv)
	for continues := true; continues && err == nil && result.Approval != nil; {
		result, continues, err = a.decide(ctx, host.Caller{Tenant: inv.Caller.Tenant}, result)
	}
	return result, err
}

// decide asks for the decision about the effect at which a run was paused, and returns the next
// Result of the run. The result "continues" is true if the run was executed again.
func (a *approvingRuns) decide(ctx context.Context, approver host.Caller, paused *report.Result) (next *report.Result, continues bool, err error) {
	answer, err := a.ask(ctx, paused.Approval)
	if err != nil {
		return paused, false, err
	}
	token := paused.Approval.Token
	switch {
	case answer == "y" || answer == "yes":
		next, err = a.approvals.Approve(ctx, approver, token)
		return next, true, err
	case answer == "n" || answer == "no" || a.once:
		if next, err = a.approvals.Deny(ctx, approver, token, "denied at the terminal"); err == nil {
			err = next.Error
		}
		return next, false, err
	}
	return paused, false, nil
}

// ask shows an effect and returns the answer of the person in lower case.
func (a *approvingRuns) ask(ctx context.Context, pending *report.PendingApproval) (string, error) {
	var arguments bytes.Buffer
	if json.Indent(&arguments, pending.Effect.Arguments, "", "  ") != nil {
		arguments.Write(pending.Effect.Arguments)
	}
	a.out.note(yellow, "approval: ", pending.Effect.Describe(pending.Step)+" requires an approval\n"+arguments.String())
	question := "approve? [y/n, Enter to decide later] "
	if a.once {
		question = "approve? [y/N] "
	}
	fmt.Fprint(a.out.env.Stderr, question)
	line, err := a.lines.ReadLine(ctx)
	return strings.ToLower(strings.TrimSpace(line)), err
}
