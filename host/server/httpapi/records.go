package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type getRecordInput struct {
	apitypes.Place
	Projection string `query:"projection" maxLength:"8192" doc:"JSON object that selects the members to return. The operation get_content uses the same format" example:"{\"preferences.language\":1}"`
}

type putRecordInput struct {
	apitypes.Place
	apitypes.Precondition
	apitypes.WriteOptions
	Body json.RawMessage `doc:"The content"`
}

type patchRecordInput struct {
	apitypes.Place
	apitypes.Precondition
	apitypes.WriteOptions
	Body json.RawMessage `contentType:"application/merge-patch+json" doc:"A merge patch (RFC 7396)"`
}

type deleteRecordInput struct {
	apitypes.Place
	apitypes.Precondition
}

type recordOutput struct {
	ETag string `header:"ETag" doc:"The record's revision"`
	Body apitypes.Record
}

type deletedOutput struct{ Body apitypes.Deleted }

type removedOutput struct{ Body apitypes.Removed }

func addRecords(s *Server) {
	tags := []string{"records"}
	const path = "/stores/{store}/record"
	add(s, auth.Records, huma.Operation{OperationID: "get-record", Method: http.MethodGet, Path: path, Tags: tags, Summary: "Read a record"}, getRecord)
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "put-record", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Replace a record", Errors: []int{412},
	}, func(ctx context.Context, c *call, in *putRecordInput) (*recordOutput, error) {
		return c.set(ctx, in.Place, in.Precondition, in.Body, in.TTL, true)
	})
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "patch-record", Method: http.MethodPatch, Path: path, Tags: tags, Summary: "Merge into a record", Errors: []int{412},
	}, func(ctx context.Context, c *call, in *patchRecordInput) (*recordOutput, error) {
		return c.set(ctx, in.Place, in.Precondition, in.Body, in.TTL, false)
	})
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "delete-record", Method: http.MethodDelete, Path: path, Tags: tags, Summary: "Delete a record", Errors: []int{412},
	}, deleteRecord)
	add(s, auth.Records, huma.Operation{
		OperationID: "list-records", Method: http.MethodGet, Path: "/stores/{store}/records", Tags: tags, Summary: "List the records of a store",
		Description: "Returns the records without contents. A page may be shorter than the limit. More pages follow if `next` is set.",
	}, listRecords)
	add(s, auth.Erase, huma.Operation{
		OperationID: "purge-store", Method: http.MethodDelete, Path: "/stores/{store}/records", Tags: tags, Summary: "Remove all records of a store",
		Description: "Removes records of all users and sessions. The store does not have to be declared.",
	}, func(ctx context.Context, c *call, in *storeInput) (*removedOutput, error) {
		caller, err := c.named("", "")
		if err != nil {
			return nil, err
		}
		n, err := c.host.Stores().Purge(ctx, caller, in.Store)
		return &removedOutput{apitypes.Removed{Records: n}}, err
	})
	add(s, auth.Erase, huma.Operation{
		OperationID: "erase-user", Method: http.MethodDelete, Path: "/users/{user_id}", Tags: tags, Summary: "Erase a user",
		Description: "Removes all data of a user in the app: documents, facts, blocks and collection entries, transcripts, sessions and workflows with their records and files, runs that wait for an approval, kept Results, and ledger entries. The response is sent after a last search for data of the user has found no data.",
	}, eraseUser)
}

// operate performs an operator's operation on a record.
func (c *call) operate(ctx context.Context, in apitypes.Place, op string, args ...any) (json.RawMessage, error) {
	reply, _, err := c.perform(ctx, factOwner(in.Owner), op, append([]any{in.Store}, args...)...)
	return reply, err
}

// currentRevision returns a function that returns the revision of a record, or nil if no record
// exists.
func (c *call) currentRevision(ctx context.Context, in apitypes.Place) func() (*int64, error) {
	return func() (*int64, error) {
		text, err := c.operate(ctx, in, abi.GetContent, nil, map[string]bool{"record": true})
		if err != nil || string(text) == "null" {
			return nil, err
		}
		found, err := recordOf(text)
		if err != nil {
			return nil, err
		}
		return &found.Body.Revision, nil
	}
}

func getRecord(ctx context.Context, c *call, in *getRecordInput) (*recordOutput, error) {
	var projection json.RawMessage
	if in.Projection != "" {
		if !json.Valid([]byte(in.Projection)) {
			return nil, abi.Faultf(abi.InvalidArgument, "the projection is not valid JSON").WithHint(`use a JSON object such as {"preferences.language":1}`)
		}
		projection = json.RawMessage(in.Projection)
	}
	if in.Store == declare.SessionMeta { // sessionMeta is computed for the caller and has no revision
		return c.sessionMeta(ctx, in.Place, projection)
	}
	text, err := c.operate(ctx, in.Place, abi.GetContent, projection, map[string]bool{"record": true})
	if err != nil {
		return nil, err
	}
	return recordOf(text)
}

// sessionMeta returns the built-in store sessionMeta as a record. The times of the record are the
// times of the session, if the session exists.
func (c *call) sessionMeta(ctx context.Context, in apitypes.Place, projection json.RawMessage) (*recordOutput, error) {
	content, err := c.operate(ctx, in, abi.GetContent, projection)
	if err != nil {
		return nil, err
	}
	out := &recordOutput{Body: apitypes.Record{Content: content}}
	caller, err := c.caller(ctx, in.User, in.Session)
	if err != nil || caller.Session == "" {
		return out, err
	}
	session, err := c.host.Sessions().Get(ctx, caller)
	if errors.Is(err, abi.NotFound) {
		return out, nil
	}
	out.Body.Created, out.Body.Updated = session.Started, session.Used
	return out, err
}

func recordOf(text json.RawMessage) (*recordOutput, error) {
	if string(text) == "null" {
		return nil, abi.Faultf(abi.NotFound, "the record does not exist")
	}
	out := &recordOutput{}
	if err := json.Unmarshal(text, &out.Body); err != nil {
		return nil, err
	}
	out.ETag = strconv.Quote(strconv.FormatInt(out.Body.Revision, 10))
	return out, nil
}

// set writes a record and returns the written record.
func (c *call) set(ctx context.Context, in apitypes.Place, must apitypes.Precondition, content json.RawMessage, ttl string, replace bool) (*recordOutput, error) {
	options := map[string]any{}
	if replace {
		options["replace"] = true
	}
	if ttl != "" {
		options["ttl"] = ttl
	}
	var effects report.Effects
	err := withPrecondition(must, options, c.currentRevision(ctx, in), func() (err error) {
		_, effects, err = c.perform(ctx, factOwner(in.Owner), abi.SetContent, in.Store, content, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := c.operate(ctx, in, abi.GetContent, nil, map[string]bool{"record": true})
	if err != nil {
		return nil, err
	}
	out, err := recordOf(text)
	if err == nil {
		out.Body.Violations = effects.Violations()
	}
	return out, err
}

func deleteRecord(ctx context.Context, c *call, in *deleteRecordInput) (*deletedOutput, error) {
	options := map[string]any{}
	var text json.RawMessage
	err := withPrecondition(in.Precondition, options, c.currentRevision(ctx, in.Place), func() (err error) {
		text, err = c.operate(ctx, in.Place, abi.DeleteContent, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &deletedOutput{}
	return out, json.Unmarshal(text, &out.Body)
}

type listRecordsInput struct {
	apitypes.Place
	apitypes.PageQuery
}

func listRecords(ctx context.Context, c *call, in *listRecordsInput) (*listOutput[memory.RecordInfo], error) {
	caller, err := c.named(in.User, in.Session)
	if err != nil {
		return nil, err
	}
	found, next, err := c.host.Stores().List(ctx, caller, in.Store, in.After, in.Limit)
	return &listOutput[memory.RecordInfo]{apitypes.List[memory.RecordInfo]{Items: found, Next: next}}, err
}

type eraseInput struct {
	apitypes.Target
	User string `path:"user_id" minLength:"1" maxLength:"256" doc:"The user's id"`
}

type erasedOutput struct{ Body memory.Erased }

func eraseUser(ctx context.Context, c *call, in *eraseInput) (*erasedOutput, error) {
	caller := host.Caller{Tenant: c.principal.Tenant, User: in.User, Actor: c.principal.Name}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Minute) // a started erasure must be completed
	defer cancel()
	erased, err := c.host.Users().Erase(ctx, caller)
	c.runs.forget(caller.Tenant, caller.User)
	return &erasedOutput{erased}, err
}
