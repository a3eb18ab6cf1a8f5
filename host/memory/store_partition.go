package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// storePartition contains the part of a store's records that an attempt can access. The partition
// contains records of the caller's user, of the caller's session, or of the app.
type storePartition struct {
	view  *View
	store *store
	// scope is the scope of the records.
	scope declare.Scope
	// key is the key of the record without an item. All keys of records in the partition begin with
	// this key. If the store is sessionMeta and the caller has no session, the key is "".
	key storage.Key
}

var _ kind.AgentPartition = (*storePartition)(nil)

// perform passes a call to the kind of the store.
func (p *storePartition) perform(ctx context.Context, verb abi.Verb, call abi.Call) (json.RawMessage, error) {
	switch {
	case p.store == p.view.s.meta:
		return p.store.compiled.Call(ctx, metaPartition{p}, call)
	case p.store.Access == declare.ScopeByItem:
		return p.store.compiled.Call(ctx, routedPartition{p.view, p.store, verb}, call)
	}
	return p.store.compiled.Call(ctx, p, call)
}

// recordKey returns the key of the record with a given item.
func (p *storePartition) recordKey(item string) storage.Key {
	if item == "" {
		return p.key
	}
	if p.store.Access == declare.ScopeByItem {
		return p.key.With(pathParts(item)...)
	}
	return p.key.With(storage.Part{Tag: storage.Item, Value: item})
}

// maxItem is the maximum size of an item in bytes. The size is limited because the item is a part
// of a key.
const maxItem = 512

// checkItem returns a fault if an item cannot be a part of a key.
func checkItem(item string) error {
	if len(item) > maxItem || !utf8.ValidString(item) || strings.ContainsFunc(item, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "an item name must be valid UTF-8 without control characters, at most %d bytes", maxItem)
	}
	return nil
}

// ForAgent implements kind.AgentPartition.
func (p *storePartition) ForAgent() (kind.Partition, error) {
	v := p.view
	if v.caller.Agent == "" {
		return nil, abi.Faultf(abi.NoAgent, "the call selects an agent's part of the block %q, but no agent is active for %s", p.store.Name, v.authority.holder()).
			WithHint("run the tool in a turn of an agent, or set the agent with `agent_id`")
	}
	key, err := p.ownKey()
	if err != nil {
		return nil, err
	}
	return v.partition(p.store, p.scope, key.With(storage.Part{Tag: storage.Agent, Value: v.caller.Agent})), nil
}

// ownKey returns the key of the partition in the group of the app. The result does not depend on
// whether the apps of the tenant share the partition. The records of agents are never shared, so
// the keys of these records begin with the result.
func (p *storePartition) ownKey() (storage.Key, error) {
	if !p.store.Block.Shared {
		return p.key, nil
	}
	v := p.view
	return p.store.key(v.s.app.Group(v.caller), v.caller, v.authority.holder())
}

// Now implements kind.Partition.
func (p *storePartition) Now() time.Time { return p.view.Now() }

// Holds implements kind.Partition.
func (p *storePartition) Holds(item string) bool { return p.view.tx.Holds(p.recordKey(item)) }

// Get implements kind.Partition.
func (p *storePartition) Get(ctx context.Context, item string) (storage.Record, error) {
	if err := checkItem(item); err != nil {
		return storage.Record{}, err
	}
	r, err := p.view.tx.Get(ctx, p.recordKey(item))
	if r.Exists() {
		r.Expires = p.store.shownEnd(r)
	}
	return r, err
}

// Scan implements kind.Partition.
func (p *storePartition) Scan(ctx context.Context, after string, limit int) ([]storage.Record, error) {
	if err := checkItem(after); err != nil {
		return nil, err
	}
	start := storage.Key("")
	if after != "" {
		start = p.recordKey(after)
	}
	records, err := p.view.tx.Scan(ctx, p.key, start, limit)
	for i, r := range records {
		records[i].Expires = p.store.shownEnd(r)
	}
	return records, err
}

// Apply implements kind.Partition.
func (p *storePartition) Apply(ctx context.Context, item string, ttl time.Duration, update kind.Update) (time.Time, error) {
	if err := cmp.Or(checkItem(item), p.CheckWrite(ttl)); err != nil {
		return time.Time{}, err
	}
	v, key, expires := p.view, p.recordKey(item), p.expires(ttl)
	if err := v.readUsage(ctx); err != nil {
		return expires, err
	}
	within := p.bounded(key, expires, update)
	err := v.tx.Apply(ctx, key, within)
	if !errors.Is(err, txn.ErrUndecided) {
		return expires, err
	}
	if err := v.reclaim(ctx); err != nil {
		return expires, err
	}
	return expires, v.tx.Apply(ctx, key, within)
}

// maxDate is the maximum time that the clock can set as the revision of a dated record. After a
// write with a wrong clock, each later write can add a millisecond to the revision, and the year
// must still have four digits. Therefore the year of maxDate is only 9000.
var maxDate = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

// bounded returns an update for package txn. The update adds the expiry and the tags to a record.
// The update also checks the quota, but only until the body of the transaction returns.
func (p *storePartition) bounded(key storage.Key, expires time.Time, update kind.Update) txn.Update {
	v, tags := p.view, p.tags(key)
	return func(old *storage.Record, locked bool) (txn.State, any, error) {
		content, violations, err := update(old, locked)
		if err != nil || content == nil {
			return txn.State{}, nil, err
		}
		next := txn.State{Content: content, Expires: expires, Tags: tags}
		if p.store.dated {
			next.Revision = min(v.Now().UnixMilli(), maxDate)
		}
		if v.closed != nil { // the commit checks the quota
			return next, violations, nil
		}
		if err := v.checkQuota(key, &next); err != nil && v.canReclaim() {
			return next, nil, txn.ErrUndecided
		} else if err != nil {
			return next, nil, err
		}
		return next, violations, nil
	}
}

// Delete implements kind.Partition.
func (p *storePartition) Delete(ctx context.Context, item string) error {
	if err := checkItem(item); err != nil {
		return err
	}
	return p.view.tx.Apply(ctx, p.recordKey(item), func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{}, nil, nil
	})
}

// CheckWrite implements kind.Partition.
func (p *storePartition) CheckWrite(ttl time.Duration) error {
	if p.endsWithSession() && p.view.caller.Session == "" {
		return noSession("store "+strconv.Quote(p.store.Name), p.view.authority.holder())
	}
	return p.store.checkTTL(ttl)
}

// checkTTL checks the lifetime that a write requests. checkTTL returns a fault if the lifetime
// exceeds the retention of the store.
func (st *store) checkTTL(ttl time.Duration) error {
	if limit := st.Retention.For; limit > 0 && ttl > limit {
		return abi.Faultf(abi.InvalidArgument, "the ttl exceeds the store's retention of %s", st.Retention)
	}
	return nil
}

// expires returns the expiry of a record that is written now. If the record does not expire, the
// result is the zero time.
func (p *storePartition) expires(ttl time.Duration) time.Time {
	switch {
	case ttl > 0:
		return p.Now().Add(ttl)
	case p.store.Retention.For > 0:
		return p.Now().Add(p.store.Retention.For)
	}
	return time.Time{}
}

// tags returns the tags of a record that the attempt writes.
func (p *storePartition) tags(key storage.Key) []string {
	c := p.view.caller
	var ends partition.Lifetime
	switch {
	case p.scope == declare.ScopeWorkflow && c.Workflow != "":
		ends.Workflow = c.Workflow
	case p.scope == declare.ScopeWorkflow || p.endsWithSession():
		ends.Session = c.Session
	}
	if p.scope == declare.ScopeApplication && p.store.Kind == declare.KindCollection && p.store.Collection.WithDefaults().Erase == declare.EraseAuthor {
		ends.Author = c.User
	}
	return partition.Tags(key, c, ends)
}

// endsWithSession reports whether a record of the partition expires together with a session. A
// record expires with the session that wrote the record last.
func (p *storePartition) endsWithSession() bool {
	return p.scope == declare.ScopeSession || p.store.Retention.Session
}

// shownEnd returns the end of a record's lifetime, as replies contain it. If the lifetime has no
// end, the result is the zero time.
func (st *store) shownEnd(r storage.Record) time.Time {
	if end := st.endOf(r); end != never {
		return end
	}
	return time.Time{}
}
