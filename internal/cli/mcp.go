package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/mcpapi"
)

type mcpFlags struct {
	placeFlags
	callerFlags
	isolationFlags
	modelFlags
}

// mcpCommand serves an app to one MCP client.
type mcpCommand struct{ baseCommand }

func (mc mcpCommand) command() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the app to one MCP client over stdin and stdout",
		Long: `Serve the tools, prompts and exposed stores of the app to one client of the Model Context Protocol
(MCP), such as an editor or an assistant. The client starts this command, and communicates with the command over stdin
and stdout. The client acts for the user in --user and cannot select another user.

Without --session, a session starts when the client connects and ends when it disconnects. The database stays open
while the command runs, so no other command can use the database.

The command ends after stdin ends and all requests are answered, or on Ctrl-C.`,
		Example: `  toolrun mcp --app ./app.yaml --user ann`,
		Args:    takes(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return mc.serve(cmd.Context(), &f) },
	}
	f.placeFlags.register(cmd)
	f.callerFlags.register(cmd)
	f.workflowFlag(cmd)
	f.agentFlag(cmd)
	f.isolationFlags.register(cmd)
	f.modelFlags.registerFile(cmd)
	return cmd
}

func (mc mcpCommand) serve(ctx context.Context, f *mcpFlags) (err error) {
	pr, err := mc.projects.openApp(f.app)
	if err != nil {
		return err
	}
	defer pr.close()
	tools, err := f.isolationFlags.open(mc.out, mc.out.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	models, err := f.modelFlags.open(mc.env)
	if err != nil {
		return err
	}
	backend, err := pr.database(f.db).open(true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	caller := f.caller()
	h, err := host.Open(ctx, host.Options{
		App: pr.app, Backend: backend, Engines: tools.engines, Models: models, Tenants: []string{caller.Tenant},
		Ledger: ledgerKept, Now: mc.env.Now, Logger: mc.out.logger(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	server := mcpapi.New(mcpapi.Options{Host: h, Version: thisVersion().Version, Logger: mc.out.logger()})
	defer func() { err = errors.Join(err, server.Close()) }()
	return server.ServeStdio(ctx, caller, mc.env.Stdin, mc.env.Stdout)
}
