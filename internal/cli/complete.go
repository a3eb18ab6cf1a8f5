package cli

import (
	"github.com/spf13/cobra"
)

// Completions come from the app file. The database is not opened. If the app file cannot be read,
// there are no completions.

type completion = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// words returns words that the app file declares. The argument "file" is a pointer, because the
// flag --app is parsed only when the shell requests completions.
func (ps projects) words(file *string, words func(*project) []string) []string {
	pr, err := ps.read(*file)
	if err != nil {
		return nil
	}
	defer pr.close()
	if pr.app == nil {
		return nil
	}
	return words(pr)
}

// completeArg completes the first argument of a command.
func (ps projects) completeArg(file *string, words func(*project) []string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return ps.words(file, words), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRun completes the arguments of "toolrun run". The first argument of "toolrun run" is the
// name of a tool or of a file. Further arguments begin with a key of the tool's input.
func (ps projects) completeRun(file *string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return ps.words(file, (*project).describedTools), cobra.ShellCompDirectiveDefault
		}
		keys := ps.words(file, func(pr *project) []string {
			tool, _ := pr.app.Tool(args[0])
			return suffixed(tool.Params(), "=")
		})
		return keys, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag completes the value of a flag. The argument "how" is the directive that cobra sends
// to the shell.
func (ps projects) completeFlag(cmd *cobra.Command, flag string, how cobra.ShellCompDirective, words func(*project) []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		file := cmd.Flags().Lookup("app").Value.String()
		return ps.words(&file, words), how
	}) // an error is possible only if the flag does not exist
}

// describedTools returns the names and the descriptions of the tools. Shells display the
// descriptions.
func (pr *project) describedTools() []string {
	var names []string
	for _, t := range pr.app.Tools {
		names = append(names, cobra.CompletionWithDesc(t.Name, t.Description))
	}
	return names
}

func suffixed(words []string, suffix string) []string {
	for i := range words {
		words[i] += suffix
	}
	return words
}
