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
	wallFlags
}

func (p *program) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the app to one client of the Model Context Protocol over stdin and stdout",
		Long: `Serve the tools, the prompts and the exposed stores of the app to one client of the Model Context Protocol, such as
an editor or an assistant, which starts this command and talks to it over stdin and stdout. Nobody else can name the
user: it is --user for as long as the command runs.

Without --session a session is started when the client connects, and ended when it leaves. The database is open for as
long as the command runs, and no other command can use it meanwhile.

The command ends when stdin does and all that was asked is answered, or with Ctrl-C.`,
		Example: `  toolrun mcp --app ./app.yaml --user ann`,
		Args:    takes(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.serveMCP(cmd.Context(), &f) },
	}
	f.placeFlags.register(cmd)
	f.callerFlags.register(cmd)
	f.wallFlags.register(cmd)
	return cmd
}

func (p *program) serveMCP(ctx context.Context, f *mcpFlags) (err error) {
	pr, err := p.openApp(f.app)
	if err != nil {
		return err
	}
	defer pr.close()
	behind, err := p.openWall(f.wallFlags, p.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, behind.close()) }()
	backend, err := p.open(p.database(pr, f.placeFlags), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	caller := f.caller()
	h, err := host.Open(ctx, host.Options{
		App: pr.app, Backend: backend, Engines: behind.engines, Tenants: []string{caller.Tenant},
		Ledger: ledgerKept, Now: p.env.Now, Logger: p.logger(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	server := mcpapi.New(mcpapi.Options{Host: h, Version: thisVersion().Version, Logger: p.logger()})
	defer func() { err = errors.Join(err, server.Close()) }()
	return server.ServeStdio(ctx, caller, p.env.Stdin, p.env.Stdout)
}
