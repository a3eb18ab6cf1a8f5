package host

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Collections is a handle for the collections of an app. Collections is meant for operators, so the
// handle ignores the grants of tools. If Caller.ActorIsUser is true, the caller can read an entry
// only if it belongs to the user or to the user's session. If the access of a collection is "user",
// the entries belong to Caller.User. Collections is safe for concurrent use.
type Collections struct{ h *Host }

// CollectionsOf returns a handle for the collections of a host's app.
func CollectionsOf(h *Host) Collections { return Collections{h} }

// All returns the collections that the app has in the caller's tenant; see memory.ListCollections.
func (c Collections) All(ctx context.Context, caller Caller) ([]memory.CollectionInfo, error) {
	return memory.ListCollections(ctx, c.h.memory, caller.as("").Tenant)
}

// Describe is like All, but also returns the declarations and counts the entries; see
// memory.DescribeCollections.
func (c Collections) Describe(ctx context.Context, caller Caller) ([]memory.CollectionDetails, error) {
	return c.describe(ctx, caller, "")
}

// Show describes one collection. If the collection is not declared and has never been written to, the
// error is abi.NotFound.
func (c Collections) Show(ctx context.Context, caller Caller, name string) (memory.CollectionDetails, error) {
	if name == "" {
		return memory.CollectionDetails{}, abi.Faultf(abi.InvalidArgument, "the name of a collection is missing")
	}
	found, err := c.describe(ctx, caller, name)
	if err != nil {
		return memory.CollectionDetails{}, err
	}
	return found[0], nil
}

func (c Collections) describe(ctx context.Context, caller Caller, name string) (found []memory.CollectionDetails, err error) {
	err = c.h.admitted(ctx, caller, func() (err error) {
		found, err = memory.DescribeCollections(ctx, c.h.memory, caller.as("").Tenant, name)
		return err
	})
	return found, err
}

// List returns a page of a collection's entries, with the contents of the entries; see
// memory.ListEntries. If the caller has a user or a session, List returns the entries of this user
// or session and the entries of the app. List returns no entries of other users or sessions.
func (c Collections) List(ctx context.Context, caller Caller, q memory.EntryQuery) (found []memory.Entry, next string, err error) {
	q.Own = q.Own || caller.ActorIsUser
	err = c.perform(ctx, caller, act{name: actList, collection: q.Collection}, func(ctx context.Context, v *memory.View) (err error) {
		found, next, err = memory.ListEntries(ctx, c.h.memory, v.Caller(), q)
		return err
	})
	return found, next, err
}

// Get returns an entry of a namespace. If the entry does not exist, Get returns nil. The namespace
// "" is the default namespace.
func (c Collections) Get(ctx context.Context, caller Caller, name, namespace, id string) (found *memory.Entry, err error) {
	if err := c.checkOwn(caller, name, namespace); err != nil {
		return nil, err
	}
	err = c.perform(ctx, caller, act{name: actOperate}, func(ctx context.Context, v *memory.View) (err error) {
		found, err = memory.GetEntry(ctx, v, name, namespace, id)
		return err
	})
	return found, err
}

// checkOwn returns access_denied if the caller is an end user and the entries of the namespace
// belong to the app. For an end user, checkOwn returns not_found if the collection does not exist.
func (c Collections) checkOwn(caller Caller, name, namespace string) error {
	if !caller.ActorIsUser {
		return nil
	}
	return memory.CheckOwn(c.h.memory, name, namespace)
}

// MaxRemembered is the maximum number of entries that one call to Collections.Remember can store.
const MaxRemembered = 100

// NewEntry is an entry that a call stores.
type NewEntry struct {
	// ID is the id of the entry. If ID is "", the entry gets a new id. If the namespace contains an
	// entry with the same id, the new entry replaces it.
	ID        string
	Namespace string
	// Content is a text or another JSON value.
	Content json.RawMessage
	// Metadata is a JSON object, or nil.
	Metadata json.RawMessage
	// TTL is the lifetime of the entry, such as 30d. If TTL is "", the retention of the collection
	// determines the lifetime.
	TTL string
}

// Remembered describes an entry that a call to Collections.Remember has stored.
type Remembered struct {
	ID string `json:"id"`
	// Expires is nil if the entry does not expire.
	Expires *time.Time `json:"expires_at"`
}

// Remember stores entries in one transaction. Remember stores either all entries or no entry.
// Remember accepts at most MaxRemembered entries. If the call has several entries and one of them
// causes a fault, the fault contains the index of this entry. Indexes start at 0.
func (c Collections) Remember(ctx context.Context, caller Caller, name string, entries ...NewEntry) ([]Remembered, error) {
	if len(entries) > MaxRemembered {
		return nil, abi.Faultf(abi.TooLarge, "the request has %d entries; the limit is %d", len(entries), MaxRemembered).
			WithHint("send the entries in several requests")
	}
	var stored []Remembered
	err := c.perform(ctx, caller, act{name: actOperate, writes: true}, func(ctx context.Context, v *memory.View) error {
		stored = make([]Remembered, len(entries))
		for i, e := range entries {
			reply, err := call(ctx, v, abi.Remember, name, e.Content, e.options())
			if err == nil {
				err = json.Unmarshal(reply, &stored[i])
			}
			if err != nil {
				return atIndex(err, i, len(entries))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}

// options returns the options of the operation remember.
func (e NewEntry) options() any {
	options := struct {
		ID        string          `json:"id,omitempty"`
		Namespace string          `json:"namespace,omitempty"`
		TTL       string          `json:"ttl,omitempty"`
		Metadata  json.RawMessage `json:"metadata,omitempty"`
	}{e.ID, e.Namespace, e.TTL, e.Metadata}
	return options
}

// atIndex adds the index i of an entry to the message of a fault. If the call has only one entry,
// or if err is not a fault, atIndex returns err unchanged.
func atIndex(err error, i, n int) error {
	f, ok := err.(*abi.Fault)
	if !ok || n == 1 {
		return err
	}
	located := *f
	located.Message = fmt.Sprintf("entry %d: %s", i, f.Message)
	return &located
}

// RecallEntries is a search in one namespace of a collection.
type RecallEntries struct {
	Collection, Namespace string
	Query                 string
	// Limit is the maximum number of results, and Threshold is the minimum score of a result. If
	// Limit or Threshold is 0, the default of the operation recall applies.
	Limit     int
	Threshold float64
	// Filter is the condition on the metadata as JSON, or nil.
	Filter json.RawMessage
	// Mode is hybrid, vector or text; the default is hybrid.
	Mode string
	// If Scores is true, each result also contains the parts of its score.
	Scores bool
}

// RecalledEntry is an entry that a search has found.
type RecalledEntry struct {
	ID       string          `json:"id"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata"`
	// Score is the relevance, from 0 to 1.
	Score float64 `json:"score"`
	// Vector and Text are the parts of the score. They are nil unless RecallEntries.Scores is true.
	Vector *float64 `json:"vector,omitempty"`
	Text   *float64 `json:"text,omitempty"`
}

// Recall searches a namespace and returns the entries that match the query, sorted by score.
func (c Collections) Recall(ctx context.Context, caller Caller, q RecallEntries) ([]RecalledEntry, error) {
	if err := c.checkOwn(caller, q.Collection, q.Namespace); err != nil {
		return nil, err
	}
	var found struct{ Results []RecalledEntry }
	err := c.perform(ctx, caller, act{name: actOperate}, func(ctx context.Context, v *memory.View) error {
		reply, err := call(ctx, v, abi.Recall, q.Collection, q.Query, q.options())
		if err != nil {
			return err
		}
		return json.Unmarshal(reply, &found)
	})
	return found.Results, err
}

// options returns the options of the operation recall.
func (q RecallEntries) options() any {
	return struct {
		Limit     int             `json:"limit,omitempty"`
		Threshold float64         `json:"threshold,omitempty"`
		Filter    json.RawMessage `json:"filter,omitempty"`
		Namespace string          `json:"namespace,omitempty"`
		Mode      string          `json:"mode,omitempty"`
		Scores    bool            `json:"scores,omitempty"`
	}{q.Limit, q.Threshold, q.Filter, q.Namespace, q.Mode, q.Scores}
}

// ForgetEntries selects entries of a namespace. ForgetEntries selects the entry with the given id,
// the entries that match a filter, or all entries.
type ForgetEntries struct {
	Collection, Namespace string
	ID                    string
	Filter                json.RawMessage
	All                   bool
}

// Forgotten is the result of Collections.Forget.
type Forgotten struct {
	Count int `json:"count"`
	// More is true if more entries were selected than one call can remove.
	More bool `json:"more"`
}

// Forget removes entries. One call removes at most 500 entries. If Forgotten.More is true, call
// Forget again.
func (c Collections) Forget(ctx context.Context, caller Caller, s ForgetEntries) (done Forgotten, err error) {
	selector := struct {
		ID        string          `json:"id,omitempty"`
		Filter    json.RawMessage `json:"filter,omitempty"`
		Namespace string          `json:"namespace,omitempty"`
		All       bool            `json:"all,omitempty"`
	}{s.ID, s.Filter, s.Namespace, s.All}
	if selector.ID == "" && len(selector.Filter) == 0 && !selector.All {
		return done, abi.Faultf(abi.InvalidArgument, "the request selects no entries").WithHint("set `id`, `filter` or `all`")
	}
	err = c.perform(ctx, caller, act{name: actOperate, writes: true}, func(ctx context.Context, v *memory.View) error {
		reply, err := call(ctx, v, abi.Forget, s.Collection, selector)
		if err != nil {
			return err
		}
		return json.Unmarshal(reply, &done)
	})
	return done, err
}

// call performs an operation whose first argument is the name of a collection. If the collection
// does not exist, the operation returns a fault.
func call(ctx context.Context, v *memory.View, op, collection string, args ...any) (json.RawMessage, error) {
	encoded := []json.RawMessage{quoted(collection)}
	for _, arg := range args {
		if raw, ok := arg.(json.RawMessage); ok {
			encoded = append(encoded, raw)
			continue
		}
		text, err := json.Marshal(arg)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "an argument is not valid JSON")
		}
		encoded = append(encoded, text)
	}
	return v.Call(ctx, abi.Call{Op: op, Args: encoded})
}

// act describes an operator's act for the ledger.
type act struct {
	name   string
	writes bool
	// collection is the name of a collection that the act reads. The read set of the transaction
	// does not contain this collection.
	collection string
}

// perform waits until the gate admits the caller. Then it executes the function "body" in a
// transaction, and adds the act to the ledger.
func (c Collections) perform(ctx context.Context, caller Caller, a act, body func(context.Context, *memory.View) error) error {
	id, err := c.h.newID("op")
	if err != nil {
		return err
	}
	if !caller.ActorIsUser {
		caller = c.h.Sessions().withUser(ctx, caller)
	}
	tx := &memory.Tx{Caller: caller.as(id), Authority: memory.Operator(), ReadOnly: !a.writes}
	done, err := transactEmbedding(ctx, c.h, caller, tx, body)
	if a.collection != "" {
		done.Effects = report.Effects{Reads: []report.ReadEffect{{Store: a.collection}}, Writes: []report.WriteEffect{}}
	}
	c.h.ledger.recordAct(caller, id, a.name, done.Effects, err)
	return err
}
