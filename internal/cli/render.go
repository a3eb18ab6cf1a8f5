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
	var text, policy, message string
	cmd := &cobra.Command{
		Use:   "render PROMPT | -e TEMPLATE | -",
		Short: "Render a prompt with the current content of memory",
		Long: `Render a prompt of the app file with the stores that are granted to the prompt, or render a template
from -e or stdin with all stores. The expression {{memory.user_memory}} inserts the blocks of the user that
--memory-policy includes. If the memory policy has the archival_mode auto, the lines of blocks that match --message
are printed to stderr.`,
		Example: `  toolrun render greeting --user ann --session s1
  toolrun render -e 'Speak {{memory.userPrefs.language}}.' --user ann
  toolrun render - --user ann < prompt.txt
  toolrun render greeting --user ann --agent Support --memory-policy '{"archival_mode": "auto"}' --message "Acme renewal"`,
		Args: takes(0, 1, "one PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			inline := cmd.Flags().Changed("expression")
			if inline == (len(args) == 1) {
				return usagef("see: "+cmd.CommandPath()+" --help", "%s requires either a PROMPT or -e TEMPLATE", cmd.CommandPath())
			}
			r := host.PromptRequest{Message: message}
			var err error
			if r.MemoryPolicy, err = rc.env.memoryPolicy(cmd.Context(), policy); err != nil {
				return err
			}
			if inline {
				return rc.render(cmd, &f, r, text)
			}
			if args[0] != "-" {
				r.Prompt = args[0]
				return rc.render(cmd, &f, r, "")
			}
			template, err := rc.env.readStdin(cmd.Context(), "the template")
			if err != nil {
				return err
			}
			return rc.render(cmd, &f, r, string(template))
		},
	}
	f.register(cmd)
	f.workflowFlag(cmd)
	f.agentFlag(cmd)
	cmd.Flags().StringVarP(&text, "expression", "e", "", "the `template` itself")
	registerMemoryPolicy(cmd, &policy)
	cmd.Flags().StringVar(&message, "message", "", "the `text` of the user's message, for the mode auto of --memory-policy")
	cmd.ValidArgsFunction = rc.projects.completeArg(&f.app, (*project).promptNames)
	return cmd
}

// render renders a declared prompt. If the request names no prompt, the method renders the template
// in the request.
func (rc renderCommand) render(cmd *cobra.Command, f *memoryFlags, r host.PromptRequest, text string) error {
	return rc.apps.with(cmd, f, rc.project(r.Prompt), false, func(opened *openedApp, caller host.Caller) error {
		r.Caller = caller
		render := func() (host.Rendered, error) { return opened.prompts.RenderPrompt(cmd.Context(), r) }
		if r.Prompt == "" {
			render = func() (host.Rendered, error) { return opened.prompts.RenderTemplate(cmd.Context(), r, text) }
		}
		rendered, err := render()
		if err != nil {
			return err
		}
		answer := struct {
			Text      string   `json:"text"`
			Reminders []string `json:"system_reminders,omitempty"`
		}{rendered.Text, rendered.SystemReminders}
		return rc.out.answer(answer, func() error {
			for _, line := range rendered.SystemReminders {
				rc.out.note(plain, "reminder: ", line)
			}
			return rc.out.writeText(rendered.Text)
		})
	})
}

// project returns a finder for the project of a command that uses a prompt. If the argument
// "prompt" is not "", the finder checks that the app declares the prompt.
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
