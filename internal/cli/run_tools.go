package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// toolLine is one line in the list of tools.
type toolLine struct{ name, description string }

// missingTool lists the tools of the app on stderr and returns an error. The command must fail,
// because the name of the tool is also missing if a script uses a variable that is not set.
func (rc runCommand) missingTool(cmd *cobra.Command, f *runFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	missing := usagef("see: "+cmd.CommandPath()+" --help", "%s requires a TOOL", cmd.CommandPath())
	tools, err := rc.toolLines(cmd, f)
	if err != nil { // if there are no tools, there is nothing to list
		return missing
	}
	width := 0
	for _, t := range tools {
		width = max(width, len(t.name))
	}
	for i, t := range tools {
		if i == 0 {
			rc.out.note(plain, "", "The tools are:")
		}
		description, _, _ := strings.Cut(t.description, "\n")
		rc.out.note(plain, "  ", t.name+strings.Repeat(" ", width-len(t.name)+2)+description)
	}
	return missing
}

func (rc runCommand) toolLines(cmd *cobra.Command, f *runFlags) (tools []toolLine, err error) {
	if f.remote() {
		r, err := rc.apps.client(&f.serverFlags, f.app)
		if err != nil {
			return nil, err
		}
		there, err := r.Tools(cmd.Context())
		for _, t := range there {
			tools = append(tools, toolLine{t.Name, t.Description})
		}
		return tools, err
	}
	pr, err := rc.projects.open(f.app)
	if err != nil {
		return nil, err
	}
	defer pr.close()
	for _, t := range pr.app.Tools {
		tools = append(tools, toolLine{t.Name, t.Description})
	}
	return tools, nil
}
