package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

type runFlags struct {
	memoryFlags
	isolationFlags
	modelFlags
	input, context, metadata, key string
	env, grants                   []string
	timeout, deadline             time.Duration
	trace, dry, approve           bool
	// byPath is true if the command names the tool by its path.
	byPath bool
	// paused contains the flags of the commands in the hint about a paused run.
	paused pausedFlags
}

// runCommand runs a tool.
type runCommand struct{ baseCommand }

// runHelp is the long help text of the command.
const runHelp = `Run a tool once, in a fresh sandbox, and print its output as JSON. If the tool succeeds, its writes to memory are stored. If the tool
fails, nothing is stored. Log lines are printed to stderr while the tool runs.

TOOL is the name of a tool in the app file, or the path of a source file or of a tool's folder. A tool that is named by
its path can use only the stores that --grant allows.

The input is the JSON object in --input. The arguments key=value (a string) and key:=json (any JSON value) add members
to the input.

A session starts with the first run that uses its id, so a mistyped --session starts a new session with empty memory.
The command toolrun session list shows the existing sessions.

With --dry-run, the run stores only an entry in the ledger. Below the output, the command prints the changes that the
run would store in each store: removed values (-) and added values (+), with the JSON pointer of each value. With
--json, the Result contains the changes.

With --test, the run is a dry run without models and with empty collections: recall finds nothing, and calls of models
fail, unless --mock contains results for recall and the models. With --test and --json, the member remembered of the
Result lists the entries that the run would store.

The first run of a Python tool compiles the interpreter. The compilation takes up to half a minute. If the interpreter
is missing and stderr is a terminal, npm first downloads the interpreter (12 MB). To install the interpreter without a
terminal, see toolrun python.

A run pauses before an effect that requires an approval. With --approve, the command shows the effect on the terminal and
asks for a decision: y approves, n denies, and Enter keeps the run paused for toolrun approval.

With --server, the tool runs on a toolrun server, and TOOL is a tool of the server's app, or a source file to send.`

func (rc runCommand) command() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run TOOL [key=value | key:=json ...]",
		Short: "Run a tool once and print its output",
		Long:  runHelp,
		Example: `  toolrun run remember_me language=fr --user ann
  toolrun run add_order 'items:=[{"sku": "a1", "count": 2}]' --user ann --session s1
  toolrun run ./tools/draft.js --grant userPrefs=read --user ann
  toolrun run remember_me language=de --user ann --dry-run
  toolrun run answer question="is tea green" --test --mock mock.json --json
  echo '{"language": "fr"}' | toolrun run remember_me --input - --user ann --json
  toolrun run remember_me language=fr --user ann --server https://tools.example --key-file key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return rc.missingTool(cmd, &f)
			}
			return rc.run(cmd, &f, args[0], args[1:])
		},
	}
	f.memoryFlags.register(cmd)
	f.workflowFlag(cmd)
	f.agentFlag(cmd)
	f.isolationFlags.register(cmd)
	f.modelFlags.register(cmd)
	flags := cmd.Flags()
	f.inputFlags(cmd)
	flags.StringArrayVar(&f.grants, "grant", nil, "grant `STORE=verbs` to a tool that is named by its path; the verbs are read, write, delete and readwrite; may be repeated")
	f.timeFlags(cmd)
	f.testFlags(cmd, &f.dry)
	flags.BoolVar(&f.trace, "trace", false, "show each memory call with its duration on stderr")
	flags.BoolVar(&f.approve, "approve", false, "ask on the terminal about each effect that requires an approval")
	cmd.ValidArgsFunction = rc.projects.completeRun(&f.app)
	rc.projects.completeFlag(cmd, "grant", cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp, func(pr *project) []string { return suffixed(pr.storeNames(), "=") })
	return cmd
}

// inputFlags registers the flags for the data of the run.
func (f *runFlags) inputFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "the input: `JSON`, @file or - for stdin")
	flags.StringVar(&f.context, "context", "", "additional keys of the tool's context as `JSON`, @file, or - for standard input")
	flags.StringVar(&f.key, "key", "", "the idempotency `key`: a repeated run with the same key and input returns the result of the first run")
	flags.StringArrayVar(&f.env, "env", nil, "add `NAME=value` to the tool's environment; may be repeated")
	flags.StringVar(&f.metadata, "metadata", "", "`JSON`, @file or - to merge into the session's metadata")
}

// timeFlags registers the flags for time limits.
func (f *runFlags) timeFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.timeout, "timeout", 0, "the time limit of the run, such as 500ms (maximum: the limit that the tool declares, or 180s; default: the declared limit, or 5s)")
	flags.DurationVar(&f.deadline, "deadline", 0, "the time limit of the whole run, such as 30s, including queueing and waiting for models (default: the tool's declared deadline, or 1m)")
}

func (rc runCommand) run(cmd *cobra.Command, f *runFlags, tool string, pairs []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	inv, err := rc.invocation(cmd, f, pairs)
	if err != nil {
		return err
	}
	if err := f.checkApprove(rc.env); err != nil {
		return err
	}
	f.paused = pausedFlagsOf(cmd)
	if f.remote() {
		return adviseTypes(rc.runRemote(cmd.Context(), f, inv, tool, pairs), pairs)
	}
	return adviseTypes(rc.runLocal(cmd.Context(), f, inv, tool, pairs), pairs)
}

// runLocal runs a tool on this machine. Either an app file declares the tool, or the command names
// the tool by its path.
func (rc runCommand) runLocal(ctx context.Context, f *runFlags, inv host.Invocation, tool string, pairs []string) (err error) {
	pr, err := rc.projects.open(f.app)
	if err != nil {
		return err
	}
	defer pr.close()
	f.byPath = pr.isPath(tool)
	if inv.Tool, err = rc.target(pr, tool, f.grants); err != nil {
		return err
	}
	if f.byPath && pr.isGated() && !f.dry && !f.approve {
		return usagef("declare the tool in an app file, or run it with --approve or --dry-run",
			"%s requires approvals, but a tool that is named by its path cannot wait for them", tool)
	}
	if err := pythonCommands(rc).offer(ctx, pr, inv.Tool, f.isolationFlags); err != nil {
		return err
	}
	tools, err := f.isolationFlags.open(rc.out, rc.out.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	opened, err := rc.open(ctx, pr, f, inv.Caller, announceLoads(rc.out, tools.engines))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	runs, closed := f.approving(rc.out, opened.runs, opened.approvals)
	defer closed()
	code := pr.codeFolder(inv.Tool)
	if err := rc.runAndPrint(ctx, runs, inv, code, f); err != nil {
		if !f.keeps(pr) {
			rc.out.failedRun = "" // no ledger contains an entry for the run
		}
		fault := code.fault(faultOf(err))
		if f.byPath {
			fault = pr.pathHint(inv.Tool, fault)
		}
		return adviseTexts(fault, pairs, func() bool {
			t, _ := pr.app.Tool(inv.Tool)
			return t.InputSchema != nil
		})
	}
	if !f.dry {
		rc.sweep(ctx, opened.host)
	}
	return nil
}

// runAndPrint runs a tool and prints the result.
func (rc runCommand) runAndPrint(ctx context.Context, runs runBackend, inv host.Invocation, code codeFolder, f *runFlags) error {
	result, err := runs.Run(ctx, inv)
	if result == nil { // nothing ran
		return err
	}
	if err := rc.printResult(result, code, f.trace); err != nil {
		return err
	}
	if !result.OK {
		rc.out.failedRun = result.RunID
	}
	if inv.DryRun && result.OK && !rc.out.json {
		return showChanges(rc.out, result.Changes)
	}
	return pausedError(result, err, f.paused)
}

// invocation returns the invocation that the flags describe. The tool is not set in the result.
func (rc runCommand) invocation(cmd *cobra.Command, f *runFlags, pairs []string) (inv host.Invocation, err error) {
	inv.Caller = f.caller()
	if inv.Input, err = rc.env.input(cmd.Context(), f.input, pairs); err != nil {
		return inv, err
	}
	if inv.Context, err = rc.env.document(cmd.Context(), "--context", f.context); err != nil {
		return inv, err
	}
	if inv.Metadata, err = rc.env.document(cmd.Context(), "--metadata", f.metadata); err != nil {
		return inv, err
	}
	if inv.Env, err = parseEnv(f.env); err != nil {
		return inv, err
	}
	if flag := cmd.Flags().Lookup("timeout"); flag.Changed && f.timeout <= 0 {
		return inv, usagef("use a value such as --timeout 2s", "--timeout %s is not positive", f.timeout)
	}
	if f.timeout > app.DefaultMaxTimeout {
		return inv, usagef("", "--timeout is %gs; the maximum is %gs", f.timeout.Seconds(), app.DefaultMaxTimeout.Seconds())
	}
	if flag := cmd.Flags().Lookup("deadline"); flag.Changed && f.deadline <= 0 {
		return inv, usagef("use a value such as --deadline 30s", "--deadline %s is not positive", f.deadline)
	}
	if f.dry && f.key != "" {
		return inv, usagef("omit one of the conflicting flags", "--key cannot be combined with --dry-run, which stores no result")
	}
	if f.test && f.key != "" {
		return inv, usagef("omit one of them", "--key cannot be combined with --test, which stores no result")
	}
	f.dry = f.dry || f.test
	if inv.Mocks, inv.Recalls, err = f.mocks(rc.env); err != nil {
		return inv, err
	}
	inv.Test, inv.Live, inv.Deadline = f.test, f.live, f.deadline
	inv.Key, inv.Timeout, inv.DryRun, inv.OnLog = f.key, f.timeout, f.dry, rc.logLine()
	return inv, nil
}

// keeps reports whether a run can store anything. A run can store records, a session, a result, a
// ledger entry and requests for approvals.
func (f *runFlags) keeps(pr *project) bool {
	return len(pr.app.Stores) > 0 || pr.app.AutoCollections || pr.app.Facts != nil || pr.app.Blocks != nil || pr.isGated() && !f.byPath || f.session != "" || f.workflow != "" || f.key != "" || f.db != ""
}

// open opens a project for a run. If the run cannot store anything, the method uses an empty
// database in memory.
func (rc runCommand) open(ctx context.Context, pr *project, f *runFlags, c host.Caller, engines []engine.Engine) (*openedApp, error) {
	backend := storage.Backend(mem.New())
	if f.keeps(pr) {
		var err error
		if backend, err = pr.database(f.db).open(!f.dry); err != nil {
			return nil, err
		}
	}
	models, err := f.modelFlags.open(rc.env)
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	if f.trace {
		return rc.apps.open(ctx, pr, backend, c, engines, models, tracer{out: rc.out})
	}
	return rc.apps.open(ctx, pr, backend, c, engines, models)
}

// sweep removes expired records after a run. A removal in the background would not finish, because
// the command exits too early.
func (rc runCommand) sweep(ctx context.Context, h *host.Host) {
	if _, err := h.Sweep(ctx); err != nil && ctx.Err() == nil {
		rc.out.warn("cannot remove expired records: %v", err)
	}
}

// logLine returns a function that prints log lines immediately. When a new attempt begins, the
// returned function also prints a note.
func (rc runCommand) logLine() func(attempt int, line abi.LogLine) {
	styles := map[abi.Level]style{abi.LevelDebug: dim, abi.LevelWarn: yellow, abi.LevelError: red}
	last := 1
	return func(attempt int, line abi.LogLine) {
		if attempt != last {
			rc.out.note(dim, "note: ", fmt.Sprintf("records changed during the run: starting attempt %d", attempt))
			last = attempt
		}
		rc.out.note(styles[line.Level], "["+string(line.Level)+"] ", line.Text)
	}
}

// printResult prints the whole Result if --json is set. Without --json, printResult prints only the
// output.
func (rc runCommand) printResult(result *report.Result, code codeFolder, trace bool) error {
	if rc.out.json {
		return rc.out.printJSON(result)
	}
	for _, warning := range result.Warnings {
		if warning != host.InProcessWarning || trace {
			rc.out.warn("%s", code.warning(warning))
		}
	}
	if result.Repeated {
		rc.out.note(dim, "note: ", "returned the result of run "+result.RunID+", which used the same key; the tool did not run again")
	}
	if !result.OK {
		return nil
	}
	return rc.out.printJSON(result.Output)
}

// parseEnv parses NAME=value flags.
func parseEnv(args []string) (map[string]string, error) {
	env := make(map[string]string, len(args))
	for _, text := range args {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("write --env NAME=value", "--env %q does not have the form NAME=value", text)
		}
		env[name] = value
	}
	return env, nil
}
