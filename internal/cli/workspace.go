package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
)

// workspace is an app that a command is about, with its memory.
type workspace struct {
	surface
	app string // its id, "" where that is for the server to know
	// host and backend are nil where the app is a server's.
	host    *host.Host
	backend storage.Backend
}

// openWorkspace opens an app on a database, which is closed with it, and closed at once where that fails. No tool runs
// in it but with engines.
func (p *program) openWorkspace(ctx context.Context, pr *project, backend storage.Backend, c host.Caller, engines []engine.Engine, observers ...host.Observer) (*workspace, error) {
	h, err := host.Open(ctx, host.Options{
		App: pr.app, Backend: backend, Engines: engines, Observers: observers,
		Tenants: []string{c.Tenant}, SweepEvery: -1, Ledger: ledgerKept, Now: p.env.Now, Logger: p.logger(),
	})
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return &workspace{local{h}, pr.app.ID, h, backend}, nil
}

// finder opens the project that --app names, if it has what a command is about.
type finder func(named string) (*project, error)

// inWorkspace opens what a command of an operator is about, and closes it in the end: the app at a server, if one is
// named, and otherwise the one that find opens. The database is made only for a command that keeps something.
func (p *program) inWorkspace(cmd *cobra.Command, f *memoryFlags, find finder, keep bool, body func(*workspace, host.Caller) error) (err error) {
	caller := f.caller()
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.remote() {
		r, err := p.openRemote(&f.serverFlags, f.app)
		if err != nil {
			return err
		}
		return explainServer(body(&workspace{surface: r, app: f.app}, caller))
	}
	pr, err := find(f.app)
	if err != nil {
		return err
	}
	defer pr.close()
	backend, err := p.open(p.database(pr, f.placeFlags), keep)
	if err != nil {
		return err
	}
	w, err := p.openWorkspace(cmd.Context(), pr, backend, caller, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return body(w, caller)
}

// openMemory opens an app's memory alone, which does not ask whether the declarations have changed.
func (p *program) openMemory(a *app.App, backend storage.Backend) (*memory.Service, error) {
	return memory.New(memory.Config{
		App: a.ID, Backend: backend, Stores: a.Stores, SessionIdle: a.SessionIdle, Now: p.env.Now, Logger: p.logger(),
	})
}

func (w *workspace) close() error {
	if w.host == nil {
		return nil
	}
	return errors.Join(w.host.Close(), w.backend.Close())
}
