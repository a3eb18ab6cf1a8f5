package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/internal/double"
)

// doubleCommand implements a command that serves memory operations to tests of tools.
type doubleCommand struct{ baseCommand }

func (dc doubleCommand) command() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "double",
		Short: "Serve memory to the tests of tools, over stdin and stdout",
		Long: `Serve memory to the tests of tools. Each line of stdin is a request in JSON, and each line of stdout
is a reply. The command uses the memory implementation of toolrun, so grants, schemas, errors and Results are the same
as in a real run. The process keeps the records until stdin ends. The command writes no files and makes no
connections.

The packages in sdk/js and sdk/python-wasm start this command. The page docs/reference/double.md describes the
requests.`,
		Example: `  toolrun double --app app.yaml
  {"do":"call","op":"set_content","args":["visits",{"n":1}],"user":"ann"}
  {"do":"clock","advance":"24h"}
  {"do":"dump"}`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := double.Config{Load: dc.load, Now: dc.env.Now, Logger: dc.out.logger()}
			if file != "" {
				pr, err := dc.projects.openApp(file)
				if err != nil {
					return err
				}
				defer pr.close()
				cfg.App = pr.app
			}
			return double.Serve(cmd.Context(), dc.env.Stdin, dc.env.Stdout, cfg)
		},
	}
	cmd.Flags().StringVar(&file, "app", "", "the app `file` or its folder for the initial memory (default: an app without stores)")
	return cmd
}

// load reads an app file. If the app file has mistakes, the returned fault lists the mistakes.
func (dc doubleCommand) load(file string) (*app.App, func(), error) {
	pr, err := dc.projects.openApp(file)
	if err == nil {
		return pr.app, pr.close, nil
	}
	if bad, ok := errors.AsType[*appError](err); ok {
		return nil, nil, abi.Faultf(abi.SourceInvalid, "%v", bad.problems.Err())
	}
	return nil, nil, faultOf(err)
}
