package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// renderCommand renders prompts and templates.
type renderCommand struct{ baseCommand }

func (rc renderCommand) command() *cobra.Command {
	var f memoryFlags
	var text string
	cmd := &cobra.Command{
		Use:   "render PROMPT | -e TEMPLATE | -",
		Short: "Render a prompt with the current content of memory",
		Long: `Render a prompt of the app file with the stores that it is granted, or a template from -e or stdin with all
stores.`,
		Example: `  toolrun render greeting --user ann --session s1
  toolrun render -e 'Speak {{memory.userPrefs.language}}.' --user ann
  toolrun render - --user ann < prompt.txt`,
		Args: takes(0, 1, "one PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			inline := cmd.Flags().Changed("expression")
			if inline == (len(args) == 1) {
				return usagef("see: "+cmd.CommandPath()+" --help", "%s requires either a PROMPT or -e TEMPLATE", cmd.CommandPath())
			}
			if inline {
				return rc.render(cmd, &f, "", text)
			}
			if args[0] != "-" {
				return rc.render(cmd, &f, args[0], "")
			}
			template, err := rc.env.readStdin(cmd.Context(), "the template")
			if err != nil {
				return err
			}
			return rc.render(cmd, &f, "", string(template))
		},
	}
	f.register(cmd)
	f.workflowFlag(cmd)
	cmd.Flags().StringVarP(&text, "expression", "e", "", "the `template` itself")
	cmd.ValidArgsFunction = rc.projects.completeArg(&f.app, (*project).promptNames)
	return cmd
}

// render renders a declared prompt. If prompt is "", it renders the template instead.
func (rc renderCommand) render(cmd *cobra.Command, f *memoryFlags, prompt, text string) error {
	return rc.apps.with(cmd, f, rc.project(prompt), false, func(opened *openedApp, caller host.Caller) error {
		render := func() (string, error) { return opened.prompts.Render(cmd.Context(), caller, prompt) }
		if prompt == "" {
			render = func() (string, error) { return opened.prompts.RenderText(cmd.Context(), caller, text) }
		}
		rendered, err := render()
		if err != nil {
			return err
		}
		return rc.out.answer(map[string]string{"text": rendered}, func() error { return rc.out.writeText(rendered) })
	})
}

// project opens the project of a command that uses a prompt. It checks that the app declares the
// prompt, unless prompt is "".
func (rc renderCommand) project(prompt string) finder {
	return func(named string) (*project, error) {
		pr, err := rc.projects.open(named)
		if err != nil || prompt == "" {
			return pr, err
		}
		if _, declared := pr.app.Prompt(prompt); declared {
			return pr, nil
		}
		defer pr.close()
		f := abi.Faultf(abi.NotFound, "the prompt %q does not exist in %s", prompt, pr.shown())
		return nil, &usageError{f.WithHint("%s", didYouMean(prompt, pr.promptNames(), "the app declares no prompts"))}
	}
}

func (pr *project) promptNames() []string {
	var names []string
	for _, prompt := range pr.app.Prompts {
		names = append(names, prompt.Name)
	}
	return names
}
