package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
	"github.com/toolrun/toolrun/internal/spell"
)

// program is the state of one call to Main.
type program struct {
	baseCommand
	unknown error // set if --help was requested for an unknown command
}

// baseCommand contains the data that all commands need. The data consists of the process
// environment, the console, and access to apps and projects.
type baseCommand struct {
	env      Env
	out      *console
	projects projects
	apps     apps
}

func newBase(env Env) baseCommand {
	env = env.withDefaults()
	out, find := &console{env: env}, projects{env}
	return baseCommand{env: env, out: out, projects: find, apps: apps{out: out, projects: find}}
}

// Main runs the command in env.Args and returns the exit code of the command; see package exitcode.
// If ctx ends during a run, Main stops the run, and the run stores nothing.
func Main(ctx context.Context, env Env) (exit int) {
	p := &program{baseCommand: newBase(env)}
	defer func() {
		// Main recovers from panics. After a panic, Go would exit with the code 2, but for toolrun
		// the code 2 means a usage error.
		if v := recover(); v != nil {
			fmt.Fprintf(p.env.Stderr, "%s\n", debug.Stack())
			exit = p.fail(abi.Faultf(abi.Internal, "toolrun panicked because of a bug: %v", v))
		}
	}()
	root := p.rootCommand()
	root.SetArgs(p.env.Args)
	root.SetIn(p.env.Stdin)
	root.SetOut(p.env.Stdout)
	root.SetErr(p.env.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err := cmp.Or(err, p.unknown); err != nil {
		return p.fail(adviseMoved(cmd, err))
	}
	return exitcode.Done
}

func (p *program) rootCommand() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "toolrun",
		Short: "Run small tools that remember things, each call in a fresh sandbox",
		Long: `toolrun runs each call of a tool in a fresh sandbox, with access only to the memory stores that an app.yaml declares.
A run that fails stores nothing.

Exit codes: 0 success, 1 the tool failed, 2 the command or the app file is wrong, 3 a limit or Ctrl-C,
4 a conflict, 5 the database or toolrun itself.`,
		Example: `  toolrun run remember_me language=fr --user ann
  toolrun memory get userPrefs --user ann
  toolrun check`,
		PersistentPreRunE: refuseEmptyFlags,
		SilenceErrors:     true,
		SilenceUsage:      true,
	})
	root.PersistentFlags().BoolVar(&p.out.json, "json", false, "print the result as one JSON document on stdout")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if refused := refuseServer(cmd, err); refused != nil {
			return refused
		}
		return usagef(flagHint(cmd, err), "%v", err)
	})
	b := p.baseCommand
	root.AddCommand(
		runCommand{b}.command(), serveCommand{b}.command(), memoryCommands{b}.command(), factCommands{b}.command(), blockCommands{b}.command(), collectionCommands{b}.command(), sessionCommands{b}.command(), workflowCommands{b}.command(), approvalCommands{b}.command(),
		renderCommand{b}.command(), checkCommand{b}.command(), transferCommands{b}.export(), transferCommands{b}.importCommand(),
		dbCommands{b}.command(), ledgerCommand{b}.command(), usageCommand{b}.command(), eraseCommand{b}.command(),
		keyCommands{b}.command(), mcpCommand{b}.command(), conformCommand{b}.command(), doubleCommand{b}.command(),
		agentCommands{b}.command(), machineCommands{b}.command(), testCommand{b}.command(), sleepCommands{b}.command(), turnCommands{b}.turn(), turnCommands{b}.chat(), pythonCommands{b}.command(), doctorCommand{b}.command(), versionCommand{b}.command(), docsCommand(),
	)
	root.Version = thisVersion().String() // the version that the flag --version prints
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpFunc(p.explain(root.HelpFunc()))
	refuseUnknownTopic(root)
	return root
}

// flagHint returns the hint for the error about a flag whose value cannot be parsed.
func flagHint(cmd *cobra.Command, err error) string {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok || bad.GetFlag().Value.Type() != "duration" {
		return "see: " + cmd.CommandPath() + " --help"
	}
	if _, err := strconv.ParseFloat(bad.GetValue(), 64); err == nil {
		return "add a unit: " + bad.GetValue() + "s"
	}
	return "use a number and a unit, such as 500ms or 5s"
}

// group creates a command with subcommands. Without arguments, a command with subcommands prints
// its help text. A command with subcommands rejects unknown subcommands.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs // noCommand reports unknown subcommands
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return noCommand(cmd, args[0])
	}
	return cmd
}

// noCommand returns the error for an unknown subcommand.
func noCommand(parent *cobra.Command, name string) error {
	var known []string
	for _, cmd := range parent.Commands() {
		known = append(known, cmd.Name())
	}
	hint := "see: " + parent.CommandPath() + " --help"
	if near := spell.Name(name, known); near != "" {
		hint = "did you mean " + parent.CommandPath() + " " + near + "?"
	}
	return usagef(hint, "unknown command %q", parent.CommandPath()+" "+name)
}

// explain returns a help function that calls the function "show" to print the help text of a
// command. If the subcommand is unknown, the help function sets p.unknown, because cobra would
// print the help text of the parent command and exit successfully.
func (p *program) explain(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if rest := cmd.Flags().Args(); cmd.HasSubCommands() && len(rest) > 0 {
			p.unknown = noCommand(cmd, rest[0])
			return
		}
		show(cmd, args)
	}
}

// refuseUnknownTopic makes "help COMMAND" fail if the command is unknown. By default, cobra would
// print the help text of the parent command.
func refuseUnknownTopic(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // InitDefaultHelpCmd added it
	help.Example = "  toolrun help memory set"
	help.Args = func(_ *cobra.Command, topic []string) error {
		found, rest, err := root.Find(topic)
		if err == nil && found.HasSubCommands() && len(rest) > 0 {
			return noCommand(found, rest[0])
		}
		return err
	}
}

// refuseEmptyFlags rejects flags whose value is empty. The value of a flag is empty if a script
// uses a variable that is not set. Without the check, a command could then affect more data than
// intended.
func refuseEmptyFlags(cmd *cobra.Command, _ []string) error {
	var empty error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" {
			empty = usagef("omit the flag, or set its value", "--%s is empty", f.Name)
		}
	})
	return empty
}

// takes returns a function that checks the number of a command's arguments. In the error message,
// the argument "words" describes the expected arguments. If maxArgs is negative, the number of
// arguments is not limited.
func takes(minArgs, maxArgs int, words string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := "see: " + cmd.CommandPath() + " --help"
		switch {
		case len(args) < minArgs:
			return usagef(hint, "%s requires %s", cmd.CommandPath(), words)
		case maxArgs >= 0 && len(args) > maxArgs:
			return usagef(hint, "%s accepts %s: unexpected argument %q", cmd.CommandPath(), words, args[maxArgs])
		}
		return nil
	}
}
