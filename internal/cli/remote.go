package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/sdk/client"
)

// remoteBackend returns the backend of an app at a server.
func remoteBackend(c *client.Client, env Env) appBackend {
	return appBackend{
		runs: remoteRuns{c, env}, prompts: remotePrompts{c}, sessions: remoteSessions{c}, workflows: remoteWorkflows{c}, records: remoteRecords{c}, facts: remoteFacts{c}, blocks: remoteBlocks{c}, collections: remoteCollections{c},
		users: remoteUsers{c}, ledger: remoteLedger{c}, usage: remoteUsage{c}, agents: remoteAgents{c, env}, sleep: remoteSleep{c}, approvals: remoteApprovals{c},
	}
}

func callerOf(c host.Caller) client.Caller {
	return client.Caller{User: c.User, Session: c.Session, Workflow: c.Workflow, Agent: c.Agent}
}

// remoteRuns runs tools at a server.
type remoteRuns struct {
	client *client.Client
	env    Env
}

// Run runs a tool at the server. The log lines of declared tools are printed immediately. The log
// lines of ad-hoc code are printed when the run has ended.
func (r remoteRuns) Run(ctx context.Context, inv host.Invocation) (*report.Result, error) {
	fields := apitypes.RunFields{
		Input: inv.Input, Session: inv.Caller.Session, User: inv.Caller.User, Workflow: inv.Caller.Workflow, Agent: inv.Caller.Agent, Metadata: inv.Metadata, Context: inv.Context,
		Env: inv.Env, TimeoutMS: inv.Timeout.Milliseconds(), DeadlineMS: inv.Deadline.Milliseconds(), DryRun: inv.DryRun,
		TestFields: testFieldsOf(inv.Test, inv.Live, inv.Mocks, inv.Recalls),
	}
	if inv.Code != nil {
		return r.runCode(ctx, inv, fields)
	}
	result, err := r.client.StreamRun(ctx, apitypes.RunRequest{Tool: inv.Tool, RunFields: fields}, inv.OnLog, client.IdempotencyKey(inv.Key))
	if result != nil {
		return result, err
	}
	return notRun(inv.Tool, unknownName(err, inv.Tool, noTool(r.env, inv.Tool, " on the server"), "the app declares no tools", func() ([]string, error) {
		return namesOf(r.client.Tools, func(t apitypes.Tool) string { return t.Name })(ctx)
	}))
}

func (r remoteRuns) runCode(ctx context.Context, inv host.Invocation, fields apitypes.RunFields) (*report.Result, error) {
	grants := map[string]string{}
	for _, g := range inv.Code.Grants {
		grants[g.Name()] = joined(g.Verbs)
	}
	request := apitypes.CodeRequest{Name: inv.Tool, Language: inv.Code.Language, Code: inv.Code.Text, Grants: grants, RunFields: fields}
	result, err := r.client.RunCode(ctx, request, client.IdempotencyKey(inv.Key))
	if result == nil {
		return notRun(inv.Tool, err)
	}
	for _, line := range result.Logs {
		if !result.Repeated {
			inv.OnLog(1, line)
		}
	}
	return result, err
}

// notRun returns err, with a Result if the server has begun a run but the error occurred before the
// tool ran.
func notRun(tool string, err error) (*report.Result, error) {
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.RunID == "" {
		return nil, err
	}
	return &report.Result{
		RunID: e.RunID, Tool: tool, Status: report.Failed, Logs: []abi.LogLine{}, Error: e.Fault, Warnings: []string{},
		Effects: report.Effects{Reads: []report.ReadEffect{}, Writes: []report.WriteEffect{}},
	}, err
}

// remotePrompts renders prompts at a server.
type remotePrompts struct{ client *client.Client }

// RenderPrompt renders a prompt of the app.
func (r remotePrompts) RenderPrompt(ctx context.Context, p host.PromptRequest) (host.Rendered, error) {
	rendered, err := r.client.RenderPrompt(ctx, p.Prompt, apitypes.RenderRequest{
		User: p.Caller.User, Session: p.Caller.Session, Workflow: p.Caller.Workflow, Agent: p.Caller.Agent, Message: p.Message, Policy: sentPolicy(p.MemoryPolicy),
	})
	if err != nil {
		return host.Rendered{}, unknownName(err, p.Prompt, fmt.Sprintf("the server has no prompt %q", p.Prompt), "the app declares no prompts", func() ([]string, error) {
			return namesOf(r.client.Prompts, func(p apitypes.Prompt) string { return p.Name })(ctx)
		})
	}
	return host.Rendered{Text: rendered.Text, Missing: rendered.Missing, SystemReminders: rendered.SystemReminders}, nil
}

// RenderTemplate always fails, because a server renders only declared prompts.
func (r remotePrompts) RenderTemplate(context.Context, host.PromptRequest, string) (host.Rendered, error) {
	return host.Rendered{}, usagef("use a prompt of the app", "a server renders only prompts of its app")
}

// remoteSessions manages sessions at a server.
type remoteSessions struct{ client *client.Client }

// Start starts a session, or changes an open session.
func (r remoteSessions) Start(ctx context.Context, c host.Caller, start session.Start) (session.Session, error) {
	started, err := r.client.Sessions().Start(ctx, apitypes.SessionRequest{
		Session: c.Session, User: c.User, Metadata: start.Metadata, SessionReference: start.Reference, UserReference: start.UserReference,
	})
	if err != nil {
		return session.Session{}, err
	}
	return session.Session(started.Session), nil
}

// End ends the session of the caller.
func (r remoteSessions) End(ctx context.Context, c host.Caller) (session.Session, error) {
	return sessionOf(r.client.Sessions().End(ctx, callerOf(c)))
}

// Get returns the session of the caller.
func (r remoteSessions) Get(ctx context.Context, c host.Caller) (session.Session, error) {
	return sessionOf(r.client.Sessions().Get(ctx, callerOf(c)))
}

// remoteWorkflows manages workflows at a server.
type remoteWorkflows struct{ client *client.Client }

// End ends the workflow of the caller.
func (r remoteWorkflows) End(ctx context.Context, c host.Caller) (session.Workflow, error) {
	return workflowOf(r.client.Workflows().End(ctx, callerOf(c)))
}

// Get returns the workflow of the caller.
func (r remoteWorkflows) Get(ctx context.Context, c host.Caller) (session.Workflow, error) {
	return workflowOf(r.client.Workflows().Get(ctx, callerOf(c)))
}

// List returns a page of workflows. The page begins after the given id.
func (r remoteWorkflows) List(ctx context.Context, c host.Caller, after string, limit int) (found []session.Workflow, next string, err error) {
	page, err := r.client.Workflows().List(ctx, client.WorkflowQuery{User: c.User, PageQuery: client.PageQuery{After: after, Limit: limit}})
	if err != nil {
		return nil, "", err
	}
	for _, w := range page.Items {
		found = append(found, session.Workflow(w))
	}
	return found, page.Next, nil
}

func workflowOf(w *apitypes.Workflow, err error) (session.Workflow, error) {
	if err != nil {
		return session.Workflow{}, err
	}
	return session.Workflow(*w), nil
}

func sessionOf(s *apitypes.Session, err error) (session.Session, error) {
	if err != nil {
		return session.Session{}, err
	}
	return session.Session(*s), nil
}

// List returns a page of sessions. The page begins after the given id.
func (r remoteSessions) List(ctx context.Context, c host.Caller, after string, limit int) (found []session.Session, next string, err error) {
	page, err := r.client.Sessions().List(ctx, client.SessionQuery{User: c.User, After: after, Limit: limit})
	if err != nil {
		return nil, "", err
	}
	for _, s := range page.Items {
		found = append(found, session.Session(s))
	}
	return found, page.Next, nil
}

// remoteRecords reads and writes records at a server.
type remoteRecords struct{ client *client.Client }

// Get reads a record.
func (r remoteRecords) Get(ctx context.Context, c host.Caller, store string, projection json.RawMessage, record bool) (json.RawMessage, error) {
	found, err := r.client.Records().Get(ctx, callerOf(c), store, projection)
	if errors.Is(err, abi.NotFound) {
		if stores, failed := storeNames(ctx, r.client); failed == nil && slices.Contains(stores, store) {
			return json.RawMessage("null"), nil
		}
	}
	if err != nil {
		return nil, r.unknownStore(ctx, err, store)
	}
	if !record {
		return found.Content, nil
	}
	return json.Marshal(found)
}

// Set writes a record.
func (r remoteRecords) Set(ctx context.Context, c host.Caller, store string, content json.RawMessage, opts writeOptions) (json.RawMessage, error) {
	write := r.client.Records().Patch
	if opts.Replace {
		write = r.client.Records().Put
	}
	record, err := write(ctx, callerOf(c), store, content, client.WriteOptions{IfRevision: opts.IfRevision, TTL: opts.TTL})
	if err != nil {
		return nil, r.unknownStore(ctx, err, store)
	}
	return json.Marshal(record)
}

// Delete deletes a record.
func (r remoteRecords) Delete(ctx context.Context, c host.Caller, store string, opts writeOptions) (json.RawMessage, error) {
	deleted, err := r.client.Records().Delete(ctx, callerOf(c), store, opts.IfRevision)
	if err != nil {
		return nil, r.unknownStore(ctx, err, store)
	}
	return json.Marshal(deleted)
}

// List returns a page of the records of a store.
func (r remoteRecords) List(ctx context.Context, c host.Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error) {
	page, err := r.client.Records().List(ctx, callerOf(c), store, client.PageQuery{After: after, Limit: limit})
	if err != nil {
		return nil, "", r.unknownStore(ctx, err, store)
	}
	for _, l := range page.Items {
		found = append(found, memory.RecordInfo(l))
	}
	return found, page.Next, nil
}

// Purge removes all records of a store and returns the number of removed records.
func (r remoteRecords) Purge(ctx context.Context, _ host.Caller, store string) (int, error) {
	return r.client.Records().Purge(ctx, store)
}

// remoteUsers erases and exports the data of users at a server.
type remoteUsers struct{ client *client.Client }

// Erase erases all data of the caller's user.
func (r remoteUsers) Erase(ctx context.Context, c host.Caller) (memory.Erased, error) {
	erased, err := r.client.Users().Erase(ctx, c.User)
	if err != nil {
		return memory.Erased{}, err
	}
	return memory.Erased(*erased), nil
}

// Export writes a ZIP archive with all data of the caller's user.
func (r remoteUsers) Export(ctx context.Context, c host.Caller, w io.Writer) error {
	_, err := r.client.Users().Export(ctx, c.User, w)
	return err
}

// remoteLedger reads the ledger of a server.
type remoteLedger struct{ client *client.Client }

// Entries returns a page of the ledger.
func (r remoteLedger) Entries(ctx context.Context, _ host.Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error) {
	page, err := r.client.Ledger().List(ctx, client.LedgerQuery(q))
	if err != nil {
		return nil, "", false, err
	}
	found = make([]ledger.Entry, len(page.Items))
	for i, e := range page.Items {
		found[i] = ledger.Entry(e)
	}
	return found, page.Next, page.Next != "", nil
}

// remoteUsage reads the usage of apps at a server.
type remoteUsage struct{ client *client.Client }

// List returns a page of the usage data.
func (r remoteUsage) List(ctx context.Context, _ host.Caller, q metering.Query) (found []metering.Usage, next string, err error) {
	page, err := r.client.Usage().List(ctx, client.UsageQuery{Since: q.Since, Until: q.Until, After: q.After, Limit: maxUsage})
	if err != nil {
		return nil, "", err
	}
	for _, usage := range page.Items {
		found = append(found, metering.Usage(usage))
	}
	return found, page.Next, nil
}

// storeNames returns the names of all stores of an app at a server.
func storeNames(ctx context.Context, c *client.Client) ([]string, error) {
	return namesOf(c.Stores().List, func(s apitypes.Store) string { return s.TechnicalName })(ctx)
}

func (r remoteRecords) unknownStore(ctx context.Context, err error, store string) error {
	message := fmt.Sprintf("the server has no store %q", store)
	return unknownName(err, store, message, "the app declares no stores", func() ([]string, error) { return storeNames(ctx, r.client) })
}
