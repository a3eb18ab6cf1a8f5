package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// catalogue is the stored form of the app's declarations. The stored records were written under
// these declarations.
type catalogue struct {
	Stores map[string]declaration `json:"stores"`
}

// declaration contains the stored fields of the declaration of a store. Some of these fields must
// not change while the store has records. The other fields are for operators.
type declaration struct {
	Kind      declare.Kind  `json:"kind"`
	Access    declare.Scope `json:"access"`
	Retention string        `json:"retention,omitempty"`
	Strict    bool          `json:"strict,omitempty"`
	Schema    string        `json:"schema,omitempty"`
	// Scopes contains the declared scopes of the store's items, as a JSON text. If no item declares
	// a scope, Scopes is "".
	Scopes string `json:"scopes,omitempty"`
	// Shared reports whether all apps of the tenant share the records of users.
	Shared bool `json:"shared,omitempty"`
}

func declarationOf(st declare.Store) declaration {
	return declaration{
		Kind: st.Kind, Access: st.Access, Retention: st.Retention.String(), Strict: st.Strict, Schema: string(st.Schema), Scopes: scopesOf(st.Facts),
		Shared: st.Block.Shared,
	}
}

// scopesOf returns the declared scopes of facts as a JSON text. The scopes are in a fixed order. If
// no fact declares a scope, scopesOf returns "".
func scopesOf(facts []declare.Fact) string {
	scopes := map[string]declare.Scope{}
	for _, f := range facts {
		if f.Scope != "" {
			scopes[f.Path] = f.Scope
		}
	}
	if len(scopes) == 0 {
		return ""
	}
	text, _ := json.Marshal(scopes) // a string can always be encoded
	return string(text)
}

// Declare compares the declarations of the app with the stored declarations, under which the
// tenant's records were written. Then Declare stores the new declarations. If the access or the
// kind of a store has changed and the store has records, Declare returns an error, because these
// records would become unreachable. Declare keeps the records of a store that is no longer
// declared. Audit lists these stores.
func (s *Service) Declare(ctx context.Context, tenant string) error {
	err := records.ErrChanged
	for tries := 0; tries < records.MaxAttempts && errors.Is(err, records.ErrChanged); tries++ { // other processes can open the app at the same time
		err = writeCatalogue(ctx, s, partition.Caller{Tenant: tenant})
	}
	if errors.Is(err, records.ErrChanged) {
		return s.records.Fault("write the catalog", err)
	}
	return err
}

// writeCatalogue stores the declarations of the app if they differ from the stored catalogue. If
// checkScopes returns an error, writeCatalogue returns this error and stores nothing. If another
// process has changed the stored catalogue in the meantime, writeCatalogue returns
// records.ErrChanged.
func writeCatalogue(ctx context.Context, s *Service, c partition.Caller) error {
	key := s.app.System(partition.Catalogue, c)
	found, err := s.backend.Get(ctx, key)
	if err != nil {
		return s.records.Fault("read the catalog", err)
	}
	old, err := decodeCatalogue(found[0])
	if err != nil {
		return s.records.Fault("read the catalog", err)
	}
	if err := checkScopes(ctx, s, c, old); err != nil {
		return err
	}
	next := nextCatalogue(s.stores, old)
	if maps.Equal(old.Stores, next.Stores) {
		return nil
	}
	err = s.backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		if !now[0].SameVersion(found[0]) {
			return nil, records.ErrChanged
		}
		return s.records.Write(nil, now[0], key, next, time.Time{}, c)
	})
	if errors.Is(err, records.ErrChanged) {
		return err
	}
	return s.records.Fault("write the catalog", err)
}

// CheckDeclared returns the *ScopeChangedError that Declare would return. CheckDeclared stores
// nothing.
func (s *Service) CheckDeclared(ctx context.Context, tenant string) error {
	c := partition.Caller{Tenant: tenant}
	records, err := s.backend.Get(ctx, s.app.System(partition.Catalogue, c))
	if err != nil {
		return s.records.Fault("read the catalog", err)
	}
	old, err := decodeCatalogue(records[0])
	if err != nil {
		return s.records.Fault("read the catalog", err)
	}
	return checkScopes(ctx, s, c, old)
}

// DeclaredTenants calls the function "visit" for each tenant for which Declare has stored
// declarations of the app. If the function returns an error, DeclaredTenants stops.
func (s *Service) DeclaredTenants(ctx context.Context, visit func(tenant string) error) error {
	return s.records.EachTenant(ctx, partition.Catalogue, map[string]bool{}, visit)
}

func decodeCatalogue(r storage.Record) (catalogue, error) {
	var c catalogue
	if !r.Exists() {
		return c, nil
	}
	if err := json.Unmarshal(r.Content, &c); err != nil {
		return c, fmt.Errorf("catalog: %w: %w", storage.ErrCorrupt, err)
	}
	return c, nil
}

// nextCatalogue returns a copy of the catalogue that contains the current declarations of the app.
// Stores that are no longer declared remain in the catalogue.
func nextCatalogue(stores map[string]*store, old catalogue) catalogue {
	next := catalogue{Stores: maps.Clone(old.Stores)}
	if next.Stores == nil {
		next.Stores = map[string]declaration{}
	}
	for name, st := range stores {
		next.Stores[name] = declarationOf(st.Store)
	}
	return next
}

// checkScopes compares the old and the new declarations of the stores and items that have records.
// checkScopes returns a *ScopeChangedError for each store whose access or kind has changed, and for
// each item whose scope has changed.
func checkScopes(ctx context.Context, s *Service, c partition.Caller, old catalogue) error {
	var errs []error
	for name, was := range old.Stores {
		st := s.stores[name]
		if st == nil || st.Access != declare.ScopeByItem || was.Access != st.Access || was.Scopes == scopesOf(st.Facts) {
			continue
		}
		moved, err := movedItems(ctx, s.records, c, st, s.now())
		if err != nil {
			return s.records.Fault("check the scopes of items", err)
		}
		for _, item := range slices.Sorted(maps.Keys(moved)) {
			errs = append(errs, moved[item])
		}
	}
	return errors.Join(append(errs, checkAccess(ctx, s, c, old))...)
}

// movedItems finds the items of a store that have records in a scope other than their declared
// scope, and returns one error for each of these items. The keys of the result are the items.
// Expired records are ignored.
func movedItems(ctx context.Context, db *records.DB, c partition.Caller, st *store, at time.Time) (map[string]*ScopeChangedError, error) {
	moved := map[string]*ScopeChangedError{}
	err := db.ScanHeads(ctx, prefixOf(db.App.Group(c), st.Name), func(chunk []storage.Head) error {
		for _, r := range chunk {
			item := kind.ItemOf(r.Key)
			was, is := st.scopeOfKey(r.Key), st.scopeOfItem(item)
			if was == is || !at.Before(st.endOf(r.Record)) {
				continue
			}
			if moved[item] == nil {
				moved[item] = &ScopeChangedError{Store: st.Name, Item: item, Was: was, Is: is, WasKind: st.Kind, IsKind: st.Kind}
			}
			moved[item].Records++
		}
		return nil
	})
	return moved, err
}

// checkAccess returns a *ScopeChangedError for each store that has records and whose access or kind
// has changed.
func checkAccess(ctx context.Context, s *Service, c partition.Caller, old catalogue) error {
	var moved []string
	for name, was := range old.Stores {
		if st := s.stores[name]; st != nil && (st.Access != was.Access || st.Kind != was.Kind || st.Block.Shared != was.Shared) {
			moved = append(moved, name)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	own, err := countStores(ctx, s.records, s.app.Group(c))
	if err != nil {
		return s.records.Fault("count records", err)
	}
	shared, err := countStores(ctx, s.records, partition.Shared.Group(c))
	if err != nil {
		return s.records.Fault("count records", err)
	}
	var errs []error
	for _, name := range slices.Sorted(slices.Values(moved)) {
		was, is, n := old.Stores[name], s.stores[name], own[name].all
		if st := declarationOf(is.Store); was.Shared != st.Shared && was.Kind == st.Kind && was.Access == st.Access {
			n = own[name].users // the keys of records of agents do not depend on the access
		}
		if was.Shared {
			n += shared[name].users
		}
		if n > 0 {
			errs = append(errs, &ScopeChangedError{
				Store: name, Was: accessOf(was.Access, was.Shared), Is: accessOf(is.Access, is.Block.Shared), WasKind: was.Kind, IsKind: is.Kind, Records: n,
			})
		}
	}
	return errors.Join(errs...)
}

// accessOf returns the access of a store in the form for messages.
func accessOf(access declare.Scope, shared bool) declare.Scope {
	if shared {
		return access + ", shared"
	}
	return access
}

// ScopeChangedError reports that the access or the kind of a store has changed, although the store
// has records that were written before the change.
type ScopeChangedError struct {
	Store string
	// Item is the item whose scope has changed. If the access or the kind of the whole store has
	// changed, Item is "".
	Item            string
	Was, Is         declare.Scope
	WasKind, IsKind declare.Kind
	Records         int
}

// Error describes the change and suggests a fix.
func (e *ScopeChangedError) Error() string {
	return fmt.Sprintf("%s has %s but is now declared with %q: "+
		"restore the declaration, rename the new store, or remove the records", e.What(), e.Held(), e.Declared())
}

// What returns a description of the store or of the item. Messages contain this description. An
// example is: the store "prefs".
func (e *ScopeChangedError) What() string {
	if e.Item != "" {
		return fmt.Sprintf("%q in the store %q", e.Item, e.Store)
	}
	return fmt.Sprintf("the store %q", e.Store)
}

// Declared returns the new kind of the store if the kind has changed. Otherwise, Declared returns
// the new access of the store or the new scope of the item.
func (e *ScopeChangedError) Declared() string {
	if e.WasKind != e.IsKind {
		return string(e.IsKind)
	}
	return string(e.Is)
}

// Held describes the existing records of the store, for example: 1 record of access "user".
func (e *ScopeChangedError) Held() string {
	what := fmt.Sprintf("of access %q", e.Was)
	if e.WasKind != e.IsKind {
		what = fmt.Sprintf("of kind %q", e.WasKind)
	}
	if e.Records == 1 {
		return "1 record " + what
	}
	return fmt.Sprintf("%d records %s", e.Records, what)
}

// recordCount contains two numbers: the number of all records of a store, and the number of those
// records that do not belong to an agent.
type recordCount struct{ all, users int }

// countStores counts the records of each store in a group.
func countStores(ctx context.Context, db *records.DB, group storage.Key) (map[string]recordCount, error) {
	counts := map[string]recordCount{}
	err := db.ScanHeads(ctx, group, func(chunk []storage.Head) error {
		for _, r := range chunk {
			n := counts[r.Key.Part(storage.Store)]
			if n.all++; r.Key.Part(storage.Agent) == "" {
				n.users++
			}
			counts[r.Key.Part(storage.Store)] = n
		}
		return nil
	})
	return counts, err
}

// StoreAudit compares the records of a store with its declaration.
type StoreAudit struct {
	Store   string `json:"store"`
	Records int    `json:"records"`
	// Orphan reports whether the store is no longer declared.
	Orphan bool `json:"orphan,omitempty"`
	// Unfit is the number of records that do not match the store's schema.
	Unfit int `json:"unfit,omitempty"`
	// Moved is the access under which records of the store were written, if this access differs
	// from the declared access. Otherwise, Moved is "".
	Moved declare.Scope `json:"moved,omitempty"`
}

// Audit checks every record of the tenant. For each store, Audit returns the number of records and
// the number of records that do not match the schema. Audit also returns whether the store is still
// declared. The result is sorted by the name of the store.
func (s *Service) Audit(ctx context.Context, tenant string) ([]StoreAudit, error) {
	c := partition.Caller{Tenant: tenant}
	reports := storeAudits{}
	for _, name := range s.names {
		reports[name] = &StoreAudit{Store: name}
	}
	err := s.records.Scan(ctx, s.app.Group(c), func(chunk []storage.Record) error {
		for _, r := range chunk {
			reports.add(storeOfKey(s, r.Key), r, s.now())
		}
		return nil
	})
	if err == nil {
		err = scanShared(ctx, s, c, func(st *store, chunk []storage.Record) error {
			for _, r := range chunk {
				reports.add(st, r, s.now())
			}
			return nil
		})
	}
	if err != nil {
		return nil, s.records.Fault("audit records", err)
	}
	all := make([]StoreAudit, 0, len(reports))
	for _, name := range slices.Sorted(maps.Keys(reports)) {
		all = append(all, *reports[name])
	}
	return all, nil
}

// storeAudits maps the name of a store to the audit of the store.
type storeAudits map[string]*StoreAudit

// add adds a record to the audit of its store. The argument st is nil if the store is no longer
// declared.
func (reports storeAudits) add(st *store, r storage.Record, at time.Time) {
	name := r.Key.Part(storage.Store)
	report := reports[name]
	if report == nil {
		report = &StoreAudit{Store: name, Orphan: st == nil}
		reports[name] = report
	}
	if !at.Before(st.endOf(r)) {
		return
	}
	report.Records++
	if st == nil {
		return
	}
	if was := st.scopeOfKey(r.Key); !st.Collection.Auto && was != st.scopeOfItem(kind.ItemOf(r.Key)) {
		report.Moved = was
	}
	if !st.compiled.Fits(r) {
		report.Unfit++
	}
}

// scopeOfItem returns the scope that the store declares for an item.
func (st *store) scopeOfItem(item string) declare.Scope {
	if scoped, ok := st.compiled.(kind.Scoped); ok {
		return scoped.Scope(item)
	}
	return st.Access
}

// scopeOfKey derives the scope of a record from the record's key. If a run has no workflow, the
// run's session owns the facts whose scope is the workflow.
func (st *store) scopeOfKey(key storage.Key) declare.Scope {
	switch {
	case key.Part(storage.Workflow) != "" || key.Part(storage.Session) != "" && st.Kind == declare.KindFact:
		return declare.ScopeWorkflow
	case key.Part(storage.Session) != "":
		return declare.ScopeSession
	case key.Part(storage.User) != "":
		return declare.ScopeUser
	}
	return declare.ScopeApplication
}
