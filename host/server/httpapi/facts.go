package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type putFactInput struct {
	apitypes.FactPlace
	apitypes.Precondition
	apitypes.WriteOptions
	Body json.RawMessage `doc:"The value"`
}

type deleteFactInput struct {
	apitypes.FactPlace
	apitypes.Precondition
}

type listFactsInput struct {
	apitypes.Target
	apitypes.FactOwner
	apitypes.PageQuery
	Prefix string `query:"prefix" maxLength:"512" doc:"Prefix of the paths, such as user.travel"`
	Domain string `query:"domain" maxLength:"512" doc:"Domain of the facts"`
}

type factOutput struct {
	ETag string `header:"ETag" doc:"The fact's revision; missing if no value is stored"`
	Body apitypes.Fact
}

func addFacts(s *Server) {
	tags := []string{"facts"}
	const path = "/facts/{path}"
	add(s, auth.Records, huma.Operation{
		OperationID: "list-facts", Method: http.MethodGet, Path: "/facts", Tags: tags, Summary: "List stored facts",
		Description: "Returns the stored facts of a user, of a workflow or a session, and of the app. Declared defaults are not included.",
	}, listFacts)
	add(s, auth.Records, huma.Operation{
		OperationID: "get-fact", Method: http.MethodGet, Path: path, Tags: tags, Summary: "Read a fact",
		Description: "If no value is stored, the response contains the declared default, or null if the app declares no default.",
	}, func(ctx context.Context, c *call, in *apitypes.FactPlace) (*factOutput, error) {
		return c.fact(ctx, *in)
	})
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "put-fact", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Set a fact", Errors: []int{412},
	}, putFact)
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "delete-fact", Method: http.MethodDelete, Path: path, Tags: tags, Summary: "Delete the stored value of a fact", Errors: []int{412},
	}, deleteFact)
}

// perform performs an operation on facts with the rights of an operator.
func (c *call) perform(ctx context.Context, in apitypes.FactOwner, op string, args ...any) (json.RawMessage, report.Effects, error) {
	caller, err := c.callerIn(ctx, in.User, in.Session, in.Workflow)
	if err != nil {
		return nil, report.Effects{}, err
	}
	encoded := make([]json.RawMessage, len(args))
	for i, arg := range args {
		if encoded[i], err = json.Marshal(arg); err != nil {
			return nil, report.Effects{}, err
		}
	}
	return c.host.Stores().Do(ctx, caller, memory.Operator(), abi.Call{Op: op, Args: encoded})
}

// factOwner converts the owner of records to an owner of facts without a workflow.
func factOwner(o apitypes.Owner) apitypes.FactOwner {
	return apitypes.FactOwner{UserQuery: o.UserQuery, Session: o.Session}
}

// fact reads a fact.
func (c *call) fact(ctx context.Context, in apitypes.FactPlace) (*factOutput, error) {
	text, _, err := c.perform(ctx, in.FactOwner, abi.GetFact, in.Path, map[string]bool{"record": true})
	if err != nil {
		return nil, err
	}
	out := &factOutput{}
	if err := json.Unmarshal(text, &out.Body); err != nil {
		return nil, err
	}
	if out.Body.Revision > 0 {
		out.ETag = strconv.Quote(strconv.FormatInt(out.Body.Revision, 10))
	}
	return out, nil
}

// factRevision returns the revision of a stored fact, or nil if no value is stored.
func (c *call) factRevision(ctx context.Context, in apitypes.FactPlace) (*int64, error) {
	found, err := c.fact(ctx, in)
	if err != nil || found.Body.Revision == 0 {
		return nil, err
	}
	return &found.Body.Revision, nil
}

func putFact(ctx context.Context, c *call, in *putFactInput) (*factOutput, error) {
	options := map[string]any{}
	if in.TTL != "" {
		options["ttl"] = in.TTL
	}
	var effects report.Effects
	current := func() (*int64, error) { return c.factRevision(ctx, in.FactPlace) }
	err := withPrecondition(in.Precondition, options, current, func() (err error) {
		_, effects, err = c.perform(ctx, in.FactOwner, abi.SetFact, in.Path, in.Body, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	out, err := c.fact(ctx, in.FactPlace)
	if err == nil {
		out.Body.Violations = effects.Violations()
	}
	return out, err
}

func deleteFact(ctx context.Context, c *call, in *deleteFactInput) (*deletedOutput, error) {
	options := map[string]any{}
	var text json.RawMessage
	current := func() (*int64, error) { return c.factRevision(ctx, in.FactPlace) }
	err := withPrecondition(in.Precondition, options, current, func() (err error) {
		text, _, err = c.perform(ctx, in.FactOwner, abi.DeleteFact, in.Path, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &deletedOutput{}
	return out, json.Unmarshal(text, &out.Body)
}

func listFacts(ctx context.Context, c *call, in *listFactsInput) (*listOutput[apitypes.Fact], error) {
	text, _, err := c.perform(ctx, in.FactOwner, abi.ListFacts, nullIfEmpty(in.Prefix), nullIfEmpty(in.Domain), in.Limit, nullIfEmpty(in.After))
	if err != nil {
		return nil, err
	}
	var page struct {
		Facts []apitypes.Fact
		Next  string
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return nil, err
	}
	return &listOutput[apitypes.Fact]{apitypes.List[apitypes.Fact]{Items: page.Facts, Next: page.Next}}, nil
}

// nullIfEmpty returns a text as an argument of an operation, or nil for "".
func nullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}
