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
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// catalogue is what the database keeps of the declarations that its records were written under.
type catalogue struct {
	Stores map[string]declaration `json:"stores"`
}

// declaration is what must not change, or what people want to know, of a store that has records.
type declaration struct {
	Kind      declare.Kind  `json:"kind"`
	Access    declare.Scope `json:"access"`
	Retention string        `json:"retention,omitempty"`
	Strict    bool          `json:"strict,omitempty"`
	Schema    string        `json:"schema,omitempty"`
}

func declarationOf(st declare.Store) declaration {
	return declaration{Kind: st.Kind, Access: st.Access, Retention: st.Retention.String(), Strict: st.Strict, Schema: string(st.Schema)}
}

// Declare compares the declarations of the app with those that the tenant's records were written under, and
// keeps the new ones. A store whose access or kind changed is refused while it has records: they would lie where
// nobody looks for them. Stores that are no longer declared keep their records; see Orphans.
func (s *Service) Declare(ctx context.Context, tenant string) error {
	err := records.ErrChanged
	for tries := 0; tries < records.MaxAttempts && errors.Is(err, records.ErrChanged); tries++ { // others may open the app at the same time
		err = writeCatalogue(ctx, s, partition.Caller{Tenant: tenant})
	}
	if errors.Is(err, records.ErrChanged) {
		return s.records.Fault("write the catalogue", err)
	}
	return err
}

// writeCatalogue writes the catalogue if it is not what it should be; records.ErrChanged if it changed meanwhile.
func writeCatalogue(ctx context.Context, s *Service, c partition.Caller) error {
	key := s.app.System(partition.Catalogue, c)
	found, err := s.backend.Get(ctx, key)
	if err != nil {
		return s.records.Fault("read the catalogue", err)
	}
	old, err := decodeCatalogue(found[0])
	if err != nil {
		return s.records.Fault("read the catalogue", err)
	}
	if err := refuseMoved(ctx, s, c, old); err != nil {
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
	return s.records.Fault("write the catalogue", err)
}

// CheckDeclared returns the error that Declare would return for a store that moved, as a *ScopeChangedError, and writes nothing.
func (s *Service) CheckDeclared(ctx context.Context, tenant string) error {
	c := partition.Caller{Tenant: tenant}
	records, err := s.backend.Get(ctx, s.app.System(partition.Catalogue, c))
	if err != nil {
		return s.records.Fault("read the catalogue", err)
	}
	old, err := decodeCatalogue(records[0])
	if err != nil {
		return s.records.Fault("read the catalogue", err)
	}
	return refuseMoved(ctx, s, c, old)
}

// DeclaredTenants calls visit with each tenant that the app was declared for so far, until visit returns an error.
func (s *Service) DeclaredTenants(ctx context.Context, visit func(tenant string) error) error {
	return s.records.EachTenant(ctx, partition.Catalogue, map[string]bool{}, visit)
}

func decodeCatalogue(r storage.Record) (catalogue, error) {
	var c catalogue
	if !r.Exists() {
		return c, nil
	}
	if err := json.Unmarshal(r.Content, &c); err != nil {
		return c, fmt.Errorf("catalogue: %w: %w", storage.ErrCorrupt, err)
	}
	return c, nil
}

// nextCatalogue returns the catalogue with the app's declarations; stores that are not declared any more stay in it.
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

// refuseMoved returns a *ScopeChangedError for each store whose access or kind changed while it has records.
func refuseMoved(ctx context.Context, s *Service, c partition.Caller, old catalogue) error {
	var moved []string
	for name, was := range old.Stores {
		if st := s.stores[name]; st != nil && (st.Access != was.Access || st.Kind != was.Kind) {
			moved = append(moved, name)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	counts, err := countStores(ctx, s.records, c)
	if err != nil {
		return s.records.Fault("count records", err)
	}
	var errs []error
	for _, name := range slices.Sorted(slices.Values(moved)) {
		if n := counts[name]; n > 0 {
			was, is := old.Stores[name], s.stores[name]
			errs = append(errs, &ScopeChangedError{
				Store: name, Was: was.Access, Is: is.Access, WasKind: was.Kind, IsKind: is.Kind, Records: n,
			})
		}
	}
	return errors.Join(errs...)
}

// ScopeChangedError reports that a store with records was declared with another access, or another kind, than they were written
// under.
type ScopeChangedError struct {
	Store           string
	Was, Is         declare.Scope
	WasKind, IsKind declare.Kind
	Records         int
}

// Error says what happened and what the choices are.
func (e *ScopeChangedError) Error() string {
	return fmt.Sprintf("the store %q has %s and is now declared with %q: "+
		"declare it as it was, give the new store another name, or remove the records", e.Store, e.Held(), e.Declared())
}

// Declared returns the word that the store is now declared with: its access, or its kind if that changed.
func (e *ScopeChangedError) Declared() string {
	if e.WasKind != e.IsKind {
		return string(e.IsKind)
	}
	return string(e.Is)
}

// Held says what the store has: 1 record of access "user", or 2 records of the kind "document" if the kind changed.
func (e *ScopeChangedError) Held() string {
	what := fmt.Sprintf("of access %q", e.Was)
	if e.WasKind != e.IsKind {
		what = fmt.Sprintf("of the kind %q", e.WasKind)
	}
	if e.Records == 1 {
		return "1 record " + what
	}
	return fmt.Sprintf("%d records %s", e.Records, what)
}

// countStores counts the records of each store of an app in a tenant.
func countStores(ctx context.Context, db *records.DB, c partition.Caller) (map[string]int, error) {
	counts := map[string]int{}
	err := db.ScanHeads(ctx, db.App.Group(c), func(chunk []storage.Head) error {
		for _, r := range chunk {
			counts[r.Key.Part(storage.Store)]++
		}
		return nil
	})
	return counts, err
}

// StoreAudit says how a store's records stand to its declaration.
type StoreAudit struct {
	Store   string `json:"store"`
	Records int    `json:"records"`
	// Orphan is true for a store that is not declared any more.
	Orphan bool `json:"orphan,omitempty"`
	// Unfit counts the records that no longer fit the schema.
	Unfit int `json:"unfit,omitempty"`
	// Moved is the access under which the records were written, where it is not the declared one.
	Moved declare.Scope `json:"moved,omitempty"`
}

// Audit looks at every record of the tenant: how many each store has, which stores are not declared any more,
// and how many records no longer fit their schema. It is sorted by the stores' names.
func (s *Service) Audit(ctx context.Context, tenant string) ([]StoreAudit, error) {
	c := partition.Caller{Tenant: tenant}
	reports := storeAudits{}
	for _, name := range s.names {
		reports[name] = &StoreAudit{Store: name}
	}
	err := s.records.Scan(ctx, s.app.Group(c), func(chunk []storage.Record) error {
		for _, r := range chunk {
			reports.add(s.stores[r.Key.Part(storage.Store)], r, s.now())
		}
		return nil
	})
	if err != nil {
		return nil, s.records.Fault("look at records", err)
	}
	all := make([]StoreAudit, 0, len(reports))
	for _, name := range slices.Sorted(maps.Keys(reports)) {
		all = append(all, *reports[name])
	}
	return all, nil
}

// storeAudits are reports by the names of their stores.
type storeAudits map[string]*StoreAudit

// add adds a record of a store, nil if that is not declared any more, as it stands at a time.
func (reports storeAudits) add(st *store, r storage.Record, at time.Time) {
	name := r.Key.Part(storage.Store)
	report := reports[name]
	if report == nil {
		report = &StoreAudit{Store: name, Orphan: true}
		reports[name] = report
	}
	if !at.Before(st.endOf(r)) {
		return
	}
	report.Records++
	if st == nil {
		return
	}
	if was := scopeOf(r.Key); was != st.Access {
		report.Moved = was
	}
	if !st.compiled.Fits(r) {
		report.Unfit++
	}
}

// scopeOf tells from its key whose a record is.
func scopeOf(key storage.Key) declare.Scope {
	switch {
	case key.Part(storage.Session) != "":
		return declare.ScopeSession
	case key.Part(storage.User) != "":
		return declare.ScopeUser
	}
	return declare.ScopeApplication
}
