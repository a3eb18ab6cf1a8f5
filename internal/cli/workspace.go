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

// workspace is an app that is open with its memory.
type workspace struct {
	*project
	host    *host.Host
	backend storage.Backend
}

// openWorkspace opens an app on a database, which is closed with it, and closed at once where that fails. No tool runs
// in it but with engines.
func (p *program) openWorkspace(ctx context.Context, pr *project, backend storage.Backend, c host.Caller, engines []engine.Engine, observers ...host.Observer) (*workspace, error) {
	h, err := host.Open(ctx, host.Options{
		App: pr.app, Backend: backend, Engines: engines, Observers: observers,
		Tenants: []string{c.Tenant}, SweepEvery: -1, Now: p.env.Now, Logger: p.logger(),
	})
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return &workspace{pr, h, backend}, nil
}

// finder opens the project that --app names, if it has what a command is about.
type finder func(named string) (*project, error)

// inWorkspace opens what a command of an operator is about, and closes it in the end. The database is made only
// for a command that keeps something.
func (p *program) inWorkspace(cmd *cobra.Command, f *memoryFlags, find finder, keep bool, body func(*workspace, host.Caller) error) (err error) {
	caller := f.caller()
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
	return errors.Join(w.host.Close(), w.backend.Close())
}
