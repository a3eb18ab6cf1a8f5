package double

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// record is a record in a seed request and in the reply to a dump request.
type record struct {
	Store string `json:"store"`
	// Item is the id of an entry of a collection, and Namespace is its namespace. The content of
	// such a record has the form {"content", "metadata"}.
	Item      string          `json:"item,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	User      string          `json:"user,omitempty"`
	Session   string          `json:"session,omitempty"`
	Content   json.RawMessage `json:"content"`
	// The host sets the remaining fields of a record. A seed request ignores the fields that the
	// host sets, so the reply to a dump request can be seeded unchanged.
	Revision  int64   `json:"revision,omitempty"`
	Created   string  `json:"created,omitempty"`
	UpdatedAt string  `json:"updated_at,omitempty"`
	ExpiresAt *string `json:"expires_at,omitempty"`
}

type seedRequest struct {
	envelope
	Records []record `json:"records"`
}

// seed stores contents unchanged, on behalf of the app's operator.
func (i *instance) seed(ctx context.Context, r seedRequest) (any, error) {
	for _, one := range r.Records {
		store, err := json.Marshal(one.Store)
		if err != nil {
			return nil, err
		}
		if one.Item != "" {
			if err := i.seedEntry(ctx, store, one); err != nil {
				return nil, err
			}
			continue
		}
		call := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{store, one.Content, json.RawMessage(`{"replace":true}`)}}
		if _, err := i.operate(ctx, host.Caller{User: one.User, Session: one.Session}, call); err != nil {
			return nil, err
		}
	}
	return struct {
		Stored int `json:"stored"`
	}{len(r.Records)}, nil
}

// seedEntry stores an entry of a collection.
func (i *instance) seedEntry(ctx context.Context, store json.RawMessage, r record) error {
	var e struct {
		Content  json.RawMessage `json:"content"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	if err := json.Unmarshal(r.Content, &e); err != nil {
		return abi.Faultf(abi.InvalidArgument, "the content of an entry must be an object with the members \"content\" and \"metadata\"")
	}
	options, err := json.Marshal(map[string]any{"id": r.Item, "namespace": r.Namespace, "metadata": e.Metadata})
	if err != nil {
		return err
	}
	_, err = i.operate(ctx, host.Caller{User: r.User, Session: r.Session}, abi.Call{Op: abi.Remember, Args: []json.RawMessage{store, e.Content, options}})
	return err
}

type dumpRequest struct {
	envelope
	// Store, User and Session limit the dump to matching records.
	Store   string `json:"store"`
	User    string `json:"user"`
	Session string `json:"session"`
}

type dumpReply struct {
	Records []record `json:"records"`
}

// dump returns the records that have not expired.
func (i *instance) dump(ctx context.Context, r dumpRequest) (any, error) {
	o, err := i.open(ctx)
	if err != nil {
		return nil, err
	}
	d := dumper{host: o.host, caller: host.Caller{User: r.User, Session: r.Session}, found: []record{}}
	if r.Store != "" {
		if st, declared := i.declared.app.Store(r.Store); declared && st.Kind == declare.KindCollection || !declared && i.declared.app.CanGrant(r.Store) {
			err = d.collection(ctx, r.Store)
		} else {
			err = d.store(ctx, r.Store)
		}
		return dumpReply{d.found}, err
	}
	for _, st := range i.declared.app.Stores {
		if st.Kind == declare.KindCollection {
			continue
		}
		if err := d.store(ctx, st.Name); err != nil {
			return nil, err
		}
	}
	all, err := host.CollectionsOf(o.host).All(ctx, d.caller)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if err := d.collection(ctx, c.Name); err != nil && !errors.Is(err, abi.NotFound) { // its entries were removed
			return nil, err
		}
	}
	return dumpReply{d.found}, nil
}

// dumper collects the records of a dump.
type dumper struct {
	host   *host.Host
	caller host.Caller
	found  []record
	bytes  int
}

// store collects the records of a store.
func (d *dumper) store(ctx context.Context, name string) error {
	after := ""
	for {
		page, next, err := d.host.Stores().List(ctx, d.caller, name, after, 100)
		if err != nil {
			return err
		}
		for _, l := range page {
			if err := d.add(ctx, record{Store: l.Store, User: l.User, Session: l.Session}); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

// collection collects the entries of a collection.
func (d *dumper) collection(ctx context.Context, name string) error {
	for after := ""; ; {
		page, next, err := host.CollectionsOf(d.host).List(ctx, d.caller, memory.EntryQuery{Collection: name, After: after, Limit: 100})
		if err != nil {
			return err
		}
		for _, e := range page {
			content, err := json.Marshal(struct {
				Content  json.RawMessage `json:"content"`
				Metadata json.RawMessage `json:"metadata,omitempty"`
			}{e.Content, e.Metadata})
			if err != nil {
				return err
			}
			r := record{Store: name, Item: e.ID, Namespace: e.Namespace, User: e.User, Session: e.Session, Content: content,
				Revision: e.Revision, Created: formatted(&e.Created), UpdatedAt: formatted(&e.Updated)}
			if e.Expires != nil {
				expires := formatted(e.Expires)
				r.ExpiresAt = &expires
			}
			if err := d.keep(r); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

// formatted returns a time in the format of records.
func formatted(t *time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// add reads a record and adds the record to the dump.
func (d *dumper) add(ctx context.Context, r record) error {
	store, err := json.Marshal(r.Store)
	if err != nil {
		return err
	}
	call := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{store, nil, json.RawMessage(`{"record":true}`)}}
	reply, _, err := d.host.Stores().Do(ctx, host.Caller{User: r.User, Session: r.Session}, memory.ReadOnly(memory.Operator()), call)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply, &r); err != nil || r.Content == nil {
		return err // the record has expired in the meantime
	}
	return d.keep(r)
}

// keep adds a record to the dump, unless the dump would be too large.
func (d *dumper) keep(r record) error {
	if d.bytes += len(r.Content); len(d.found) == maxDump || d.bytes > maxDumpBytes {
		return abi.Faultf(abi.TooLarge, "the dump has more than %d records or %d bytes", maxDump, maxDumpBytes).
			WithHint("limit the dump to a store, a user or a session")
	}
	d.found = append(d.found, r)
	return nil
}
