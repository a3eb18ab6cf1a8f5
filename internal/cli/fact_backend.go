package cli

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/sdk/client"
)

// factBackend reads and writes facts.
type factBackend interface {
	// Get returns a fact. If no value is stored for a fact, Get returns the default value of the
	// fact, or null if the fact has no default.
	Get(ctx context.Context, c host.Caller, path string) (*apitypes.Fact, error)
	// Set stores a value. If the fact is not strict, the result also contains the schema violations
	// of the value.
	Set(ctx context.Context, c host.Caller, path string, value json.RawMessage, opts client.WriteOptions) (*apitypes.Fact, error)
	// Delete deletes the stored value of a fact. If the argument "revision" is not nil, the stored
	// value must have the given revision.
	Delete(ctx context.Context, c host.Caller, path string, ifRevision *int64) (*apitypes.Deleted, error)
	// List returns a page of stored facts. The result "next" is "" on the last page.
	List(ctx context.Context, c host.Caller, q client.FactQuery) (found []apitypes.Fact, next string, err error)
}

var (
	_ factBackend = localFacts{}
	_ factBackend = remoteFacts{}
)

// localFacts gives an operator access to the facts of an app that is open in this process. Grants
// do not apply.
type localFacts struct{ stores host.Stores }

// Get performs get_fact.
func (l localFacts) Get(ctx context.Context, c host.Caller, path string) (*apitypes.Fact, error) {
	fact := &apitypes.Fact{}
	_, err := l.perform(ctx, c, fact, abi.GetFact, path, map[string]bool{"record": true})
	return fact, err
}

// Set performs set_fact and then reads the fact, because the reply to a blind write contains no
// revision. The returned revision is correct, because no other process can write while this process
// has the database open.
func (l localFacts) Set(ctx context.Context, c host.Caller, path string, value json.RawMessage, opts client.WriteOptions) (*apitypes.Fact, error) {
	options := writeOptions{IfRevision: opts.IfRevision, TTL: opts.TTL}
	effects, err := l.perform(ctx, c, nil, abi.SetFact, path, value, options)
	if err != nil {
		return nil, err
	}
	fact, err := l.Get(ctx, c, path)
	fact.Violations = effects.Violations()
	return fact, err
}

// Delete performs delete_fact.
func (l localFacts) Delete(ctx context.Context, c host.Caller, path string, ifRevision *int64) (*apitypes.Deleted, error) {
	deleted := &apitypes.Deleted{}
	_, err := l.perform(ctx, c, deleted, abi.DeleteFact, path, writeOptions{IfRevision: ifRevision})
	return deleted, err
}

// List performs list_facts.
func (l localFacts) List(ctx context.Context, c host.Caller, q client.FactQuery) (found []apitypes.Fact, next string, err error) {
	var page struct {
		Facts []apitypes.Fact
		Next  string
	}
	_, err = l.perform(ctx, c, &page, abi.ListFacts, nullIfEmpty(q.Prefix), nullIfEmpty(q.Domain), q.Limit, nullIfEmpty(q.After))
	return page.Facts, page.Next, err
}

// nullIfEmpty converts a text to an argument of an operation. For "", the result is nil.
func nullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// perform executes an operation. If the argument "to" is not nil, the reply is decoded into "to".
func (l localFacts) perform(ctx context.Context, c host.Caller, to any, op string, args ...any) (report.Effects, error) {
	call := abi.Call{Op: op, Args: make([]json.RawMessage, len(args))}
	for i, arg := range args {
		var err error
		if call.Args[i], err = strictjson.Encode(arg); err != nil {
			return report.Effects{}, err
		}
	}
	reply, effects, err := l.stores.Do(ctx, c, memory.Operator(), call)
	if err != nil || to == nil {
		return effects, err
	}
	return effects, json.Unmarshal(reply, to)
}

// remoteFacts reads and writes the facts of an app at a server.
type remoteFacts struct{ client *client.Client }

// Get reads a fact.
func (r remoteFacts) Get(ctx context.Context, c host.Caller, path string) (*apitypes.Fact, error) {
	return r.client.Facts().Get(ctx, callerOf(c), path)
}

// Set stores the value of a fact.
func (r remoteFacts) Set(ctx context.Context, c host.Caller, path string, value json.RawMessage, opts client.WriteOptions) (*apitypes.Fact, error) {
	return r.client.Facts().Set(ctx, callerOf(c), path, value, opts)
}

// Delete deletes the stored value of a fact.
func (r remoteFacts) Delete(ctx context.Context, c host.Caller, path string, ifRevision *int64) (*apitypes.Deleted, error) {
	return r.client.Facts().Delete(ctx, callerOf(c), path, ifRevision)
}

// List returns a page of stored facts.
func (r remoteFacts) List(ctx context.Context, c host.Caller, q client.FactQuery) (found []apitypes.Fact, next string, err error) {
	page, err := r.client.Facts().List(ctx, callerOf(c), q)
	if err != nil {
		return nil, "", err
	}
	return page.Items, page.Next, nil
}
