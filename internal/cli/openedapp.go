package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/storage"
)

// openedApp is an app that a command has opened, and gives access to the stores of the app.
type openedApp struct {
	appBackend
	app string // the app id, or "" if only the server knows the id
	// host and backend are nil if the app is at a server.
	host    *host.Host
	backend storage.Backend
}

// apps opens the app that a command uses, and prints warnings about the app to a console.
type apps struct {
	out      *console
	projects projects
	// models contains the models for the apps that the method "with" opens. The field can be nil.
	models *modelFlags
}

// open opens an app that uses the given database. Closing the opened app also closes the database.
// If the method fails, it closes the database. Tools run only in the given engines.
func (a apps) open(ctx context.Context, pr *project, backend storage.Backend, c host.Caller, engines []engine.Engine, models *model.Set, observers ...host.Observer) (*openedApp, error) {
	h, err := host.Open(ctx, host.Options{
		App: pr.app, Backend: backend, Engines: engines, Models: models, Observers: observers,
		Tenants: []string{c.Tenant}, SweepEvery: -1, Ledger: ledgerKept, Now: a.out.env.Now, Logger: a.out.warningLogger(),
	})
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return &openedApp{localBackend(h, backend), pr.app.ID, h, backend}, nil
}

// finder is a function that opens the project that --app names. If the project lacks something that
// the command needs, a finder returns an error.
type finder func(named string) (*project, error)

// The method "with" opens the app that a command names, calls the function "body" and closes the
// app. If --server is set, the method "with" uses an app at a server. Without --server, the
// argument "find" opens the project of the app. A missing database is created only if the argument
// "keep" is true.
func (a apps) with(cmd *cobra.Command, f *memoryFlags, find finder, keep bool, body func(*openedApp, host.Caller) error) (err error) {
	caller := f.caller()
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.remote() {
		r, err := a.client(&f.serverFlags, f.app)
		if err != nil {
			return err
		}
		return explainServer(body(&openedApp{appBackend: remoteBackend(r, a.out.env), app: f.app}, caller))
	}
	pr, err := find(f.app)
	if err != nil {
		return err
	}
	defer pr.close()
	var models *model.Set
	if a.models != nil {
		if models, err = a.models.open(a.out.env); err != nil {
			return err
		}
	}
	backend, err := pr.database(f.db).open(keep)
	if err != nil {
		return err
	}
	opened, err := a.open(cmd.Context(), pr, backend, caller, nil, models)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	return body(opened, caller)
}

// memory opens only the memory service of an app. The method does not check whether the scope of a
// store has changed.
func (a apps) memory(declared *app.App, backend storage.Backend) (*memory.Service, error) {
	return memory.New(memory.Config{
		App: declared.ID, Backend: backend, Stores: declared.AllStores(), AutoCollections: declared.AutoCollections, SessionIdle: declared.SessionIdle, WorkflowIdle: declared.WorkflowIdle, Now: a.out.env.Now, Logger: a.out.warningLogger(),
	})
}

func (a *openedApp) close() error {
	if a.host == nil {
		return nil
	}
	return errors.Join(a.host.Close(), a.backend.Close())
}
