package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// docsCommand prints docs/reference/cli.md. The page is generated from the commands, so the page
// always matches the help texts of the commands.
func docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "docs",
		Short:  "Print the reference of all commands, in Markdown",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var page strings.Builder
			page.WriteString(docsIntro)
			writeFlags(&page, "Flags of every command", cmd.Root().PersistentFlags())
			for _, sub := range documented(cmd.Root()) {
				writeCommand(&page, sub)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), page.String())
			return err
		},
	}
}

const docsIntro = `# Command line

This page lists every command and flag. The page is generated from the commands. To update the page, run
` + "`go test ./internal/cli -run ReferenceOfCommands -update`" + `. ` + "`toolrun help COMMAND`" + ` prints the same text.

[Fault codes](faults.md) lists the exit codes.
`

// documented returns the subcommands that the page describes. The order is the order in the help
// text of parent.
func documented(parent *cobra.Command) (list []*cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.IsAvailableCommand() && parent.Name() != "completion" {
			list = append(list, cmd)
		}
	}
	return list
}

func writeCommand(page *strings.Builder, cmd *cobra.Command) {
	level := strings.Count(cmd.CommandPath(), " ") + 1
	fmt.Fprintf(page, "\n%s %s\n\n%s.\n", strings.Repeat("#", level), cmd.CommandPath(), plainText(cmd.Short))
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		writeFence(page, cmd.UseLine())
	}
	if cmd.Name() != "completion" { // omit cobra's own text about shells
		writeText(page, cmd.Long)
		if cmd.Example != "" {
			page.WriteString("\nExamples:\n")
			writeFence(page, strings.TrimSpace(strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n")))
		}
	}
	writeFlags(page, "", cmd.NonInheritedFlags())
	for _, sub := range documented(cmd) {
		writeCommand(page, sub)
	}
}

// writeText writes the paragraphs of a help text as Markdown. Indented lines of a help text keep
// their layout.
func writeText(page *strings.Builder, text string) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		switch {
		case part == "":
		case strings.Contains("\n"+part, "\n "):
			writeFence(page, part)
		default:
			fmt.Fprintf(page, "\n%s\n", plainText(part))
		}
	}
}

func writeFence(page *strings.Builder, text string) {
	fmt.Fprintf(page, "\n```text\n%s\n```\n", text)
}

func writeFlags(page *strings.Builder, title string, flags *pflag.FlagSet) {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		preset := "-"
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
			preset = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+value), preset, cellText(usage))
	})
	if rows.Len() == 0 {
		return
	}
	if title != "" {
		fmt.Fprintf(page, "\n## %s\n", title)
	}
	fmt.Fprintf(page, "\n| flag | default | meaning |\n| --- | --- | --- |\n%s", rows.String())
}

// plainText escapes characters that Markdown would interpret as markup.
func plainText(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(s)
}

func cellText(s string) string { return strings.ReplaceAll(plainText(s), "|", `\|`) }
