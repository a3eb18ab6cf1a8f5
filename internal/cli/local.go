package cli

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// localBackend returns the backend of an app that is open in this process.
func localBackend(h *host.Host, backend storage.Backend) appBackend {
	return appBackend{
		runs: h, prompts: h, sessions: h.Sessions(), workflows: h.Workflows(), records: localRecords{h.Stores()}, facts: localFacts{h.Stores()}, blocks: localBlocks{h.Blocks()}, collections: localCollections{host.CollectionsOf(h)}, users: h.Users(), sleep: h.Sleep(), ledger: h.Ledger(),
		agents: localAgents{h.Agents()}, usage: localUsage{backend}, approvals: h.Approvals(),
	}
}

// localRecords gives an operator access to the records of an app that is open in this process.
// Grants do not apply.
type localRecords struct{ stores host.Stores }

// List returns a page of the records of a store.
func (l localRecords) List(ctx context.Context, c host.Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error) {
	return l.stores.List(ctx, c, store, after, limit)
}

// Purge removes all records of a store and returns the number of removed records.
func (l localRecords) Purge(ctx context.Context, c host.Caller, store string) (int, error) {
	return l.stores.Purge(ctx, c, store)
}

// Get performs get_content.
func (l localRecords) Get(ctx context.Context, c host.Caller, store string, projection json.RawMessage, record bool) (json.RawMessage, error) {
	return l.perform(ctx, c, abi.GetContent, store, projection, map[string]bool{"record": record})
}

// Set performs set_content and then reads the record. The reply to a merge contains no revision,
// because another writer could write before the merge is stored. The read returns the correct
// revision, because no other process can open the database before the command ends.
func (l localRecords) Set(ctx context.Context, c host.Caller, store string, content json.RawMessage, opts writeOptions) (json.RawMessage, error) {
	_, effects, err := l.operate(ctx, c, abi.SetContent, store, content, opts)
	if err != nil {
		return nil, err
	}
	text, err := l.Get(ctx, c, store, nil, true)
	if err != nil || len(effects.Violations()) == 0 {
		return text, err
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal(text, &record); err != nil {
		return nil, err
	}
	if record["violations"], err = json.Marshal(effects.Violations()); err != nil {
		return nil, err
	}
	return json.Marshal(record)
}

// Delete performs delete_content. The second argument of delete_content contains the options.
func (l localRecords) Delete(ctx context.Context, c host.Caller, store string, opts writeOptions) (json.RawMessage, error) {
	return l.perform(ctx, c, abi.DeleteContent, store, opts)
}

// perform performs a memory operation. If an argument of the operation is a nil json.RawMessage,
// the argument is omitted.
func (l localRecords) perform(ctx context.Context, c host.Caller, op, store string, args ...any) (json.RawMessage, error) {
	reply, _, err := l.operate(ctx, c, op, store, args...)
	return reply, err
}

// operate is like the method "perform", but also returns the effects of the operation.
func (l localRecords) operate(ctx context.Context, c host.Caller, op, store string, args ...any) (json.RawMessage, report.Effects, error) {
	call := abi.Call{Op: op}
	for _, arg := range append([]any{store}, args...) {
		text, isRaw := arg.(json.RawMessage)
		if !isRaw {
			var err error
			if text, err = strictjson.Encode(arg); err != nil {
				return nil, report.Effects{}, err
			}
		}
		call.Args = append(call.Args, text)
	}
	return l.stores.Do(ctx, c, memory.Operator(), call)
}

// localUsage reads from a database how much storage the apps of a tenant use.
type localUsage struct{ backend storage.Backend }

// List returns a page of the usage data.
func (l localUsage) List(ctx context.Context, c host.Caller, q metering.Query) (found []metering.Usage, next string, err error) {
	q.Limit, q.Tenant = maxUsage, c.Tenant
	return metering.List(ctx, l.backend, q)
}
