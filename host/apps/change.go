package apps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
)

// Serve makes the given apps those that are served. An app that is open is opened anew for each of its tenants; where
// that fails, as for a store whose access changed under its records, that app goes on as it was, and the error says so.
func (a *Apps) Serve(ctx context.Context, served []*app.App) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	next := map[string]*app.App{}
	for _, declared := range served {
		if other := next[declared.ID]; other != nil {
			return fmt.Errorf("two apps are called %q", declared.ID)
		}
		next[declared.ID] = declared
	}
	var errs []error
	for id, declared := range next {
		if err := a.replace(ctx, declared); err != nil {
			errs = append(errs, err)
			if was, ok := a.App(id); ok {
				next[id] = was
			}
		}
	}
	a.mu.Lock()
	a.apps = next
	var left []*opened
	for at, o := range a.hosts {
		if next[at.app] == nil {
			left = append(left, o)
			delete(a.hosts, at)
		}
	}
	a.mu.Unlock()
	for _, o := range left {
		a.retire(o)
	}
	for id, declared := range next { // those that were opened meanwhile, of the app as it was
		if err := a.replace(ctx, declared); err != nil {
			errs = append(errs, fmt.Errorf("the app %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// replace opens an app anew for all its tenants, or for none. The caller holds changing.
func (a *Apps) replace(ctx context.Context, declared *app.App) error {
	fresh := map[place]*opened{}
	for _, at := range a.places(declared) {
		h, err := a.open(ctx, at.tenant, declared, nil)
		if err != nil {
			for _, o := range fresh {
				a.retire(o)
			}
			return fmt.Errorf("for the tenant %q: %w", at.tenant, err)
		}
		o := &opened{app: declared, ready: make(chan struct{}), host: h}
		close(o.ready)
		fresh[at] = o
	}
	for at, o := range fresh {
		a.swap(at, o)
	}
	return nil
}

// places are those where an app is open, but not as it is declared now.
func (a *Apps) places(declared *app.App) (list []place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for at, o := range a.hosts {
		if at.app == declared.ID && o.app != declared {
			list = append(list, at)
		}
	}
	return list
}

// swap puts a host in the place of another one.
func (a *Apps) swap(at place, o *opened) {
	a.mu.Lock()
	old := a.hosts[at]
	a.hosts[at] = o
	a.mu.Unlock()
	if old != nil {
		a.retire(old)
	}
}

// DeclareStore creates a store for a tenant, or changes one that was created so. The rules of the catalogue hold: a store
// with records keeps its access, which is a conflict. One of the app file is changed there.
func (a *Apps) DeclareStore(ctx context.Context, tenant, id string, st memory.Store, create bool) error {
	return a.declare(ctx, tenant, id, []memory.Store{st}, func(known []memory.Store) error { return mayDeclare(known, st, create) })
}

// DeclareStores creates or changes stores as DeclareStore does: all of them, or none.
func (a *Apps) DeclareStores(ctx context.Context, tenant, id string, stores []memory.Store) error {
	return a.declare(ctx, tenant, id, stores, func(known []memory.Store) error {
		for _, st := range stores {
			if other := storeNamed(known, st.Name); other != nil && other.Name != st.Name {
				return abi.Faultf(abi.Conflict, "there is a store %q already", other.Name)
			}
		}
		return nil
	})
}

// declare adds declarations to those that the tenant made before, if check finds that they may be.
func (a *Apps) declare(ctx context.Context, tenant, id string, stores []memory.Store, check func(known []memory.Store) error) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	declared, ok := a.App(id)
	if !ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.noApp(id)
	}
	for _, st := range stores {
		if storeNamed(declared.Stores, st.Name) != nil {
			return abi.Faultf(abi.Conflict, "the app file declares the store %q", st.Name).WithHint("change it there, and reload the app")
		}
	}
	known, err := memory.Declared(ctx, a.options.Host.Backend, tenant, id)
	if err != nil {
		return err
	}
	if err := check(known); err != nil {
		return err
	}
	for _, st := range stores {
		if err := memory.CheckStrict(st); err != nil {
			return declarationFault(stores, err)
		}
	}
	h, err := a.open(ctx, tenant, declared, stores)
	if err != nil {
		return declarationFault(stores, err)
	}
	o := &opened{app: declared, ready: make(chan struct{}), host: h}
	close(o.ready)
	if err := memory.SaveDeclared(ctx, a.options.Host.Backend, tenant, id, stores...); err != nil {
		a.retire(o)
		return err
	}
	a.swap(place{tenant, id}, o)
	return nil
}

// storeNamed returns the store of a name, in whatever case it is written.
func storeNamed(stores []memory.Store, name string) *memory.Store {
	i := slices.IndexFunc(stores, func(s memory.Store) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil
	}
	return &stores[i]
}

// mayDeclare decides whether a store is to be created that there is not, or changed that there is.
func mayDeclare(known []memory.Store, st memory.Store, create bool) error {
	other := storeNamed(known, st.Name)
	switch {
	case create && other != nil:
		return abi.Faultf(abi.Conflict, "there is a store %q already", other.Name)
	case !create && (other == nil || other.Name != st.Name):
		return abi.Faultf(abi.NotFound, "there is no store %q", st.Name)
	}
	return nil
}

// declarationFault says why stores cannot be declared.
func declarationFault(stores []memory.Store, err error) error {
	if moved, ok := errors.AsType[*memory.MovedError](err); ok {
		return abi.Faultf(abi.Conflict, "the store %q has %s", moved.Store, moved.Held()).
			WithHint("declare it as it was, give the new store another name, or remove the records")
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	var names []string
	for _, st := range stores {
		names = append(names, strconv.Quote(st.Name))
	}
	return abi.Faultf(abi.InvalidArgument, "the store %s cannot be declared: %v", strings.Join(names, " or "), cause)
}
