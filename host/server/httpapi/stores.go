package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

type storeInput struct {
	apitypes.Target
	apitypes.StorePath
}

type newStoreInput struct {
	apitypes.Target
	Body apitypes.Store
}

type changeStoreInput struct {
	apitypes.Target
	apitypes.StorePath
	Body apitypes.StoreChange
}

type storeOutput struct{ Body apitypes.Store }

// storeHandler serves requests for store declarations.
type storeHandler struct{ apps *tenants.Apps }

func (h *storeHandler) register(s *Server) {
	tags := []string{"stores"}
	add(s, auth.Stores, huma.Operation{
		OperationID: "list-stores", Method: http.MethodGet, Path: "/stores", Tags: tags, Summary: "List the stores",
	}, func(_ context.Context, c *call, _ *apitypes.Target) (*listOutput[apitypes.Store], error) {
		list := []apitypes.Store{}
		for _, st := range c.host.App().Stores {
			list = append(list, h.describe(c, st))
		}
		return &listOutput[apitypes.Store]{apitypes.List[apitypes.Store]{Items: list}}, nil
	})
	add(s, auth.Stores, huma.Operation{
		OperationID: "get-store", Method: http.MethodGet, Path: "/stores/{store}", Tags: tags, Summary: "Describe a store",
		Description: "This operation also describes the built-in store sessionMeta, which the list of stores does not contain.",
	}, func(_ context.Context, c *call, in *storeInput) (*storeOutput, error) {
		return h.get(c, in.Store)
	})
	add(s, auth.ChangeStores, huma.Operation{
		OperationID: "create-store", Method: http.MethodPost, Path: "/stores", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Create a store", Description: "Declares a store for the tenant, in addition to the stores of the app file. The technical name of a store never changes.",
	}, func(ctx context.Context, c *call, in *newStoreInput) (*storeOutput, error) {
		return h.declare(ctx, c, in.Body, true)
	})
	add(s, auth.ChangeStores, huma.Operation{
		OperationID: "change-store", Method: http.MethodPut, Path: "/stores/{store}", Tags: tags, Summary: "Change a store",
		Description: "Replaces the declaration of a store that was created through the API. Records that violate the new schema stay unchanged until a tool writes to the records. The response contains the number of such records. The access of a store with records cannot change.",
	}, func(ctx context.Context, c *call, in *changeStoreInput) (*storeOutput, error) {
		if in.Body.TechnicalName != "" && in.Body.TechnicalName != in.Store {
			return nil, abi.Faultf(abi.InvalidArgument, "`technical_name` differs from the store in the path").
				WithHint("omit technical_name")
		}
		in.Body.TechnicalName = in.Store
		return h.declare(ctx, c, apitypes.Store(in.Body), false)
	})
}

// Values of apitypes.Store.Declared.
const (
	declaredInFile  = "file"
	declaredByAPI   = "api"
	declaredBuiltIn = "built_in"
)

// builtIn describes the store sessionMeta, which every app has.
var builtIn = apitypes.Store{
	TechnicalName: declare.SessionMeta, Name: "Session", Access: string(declare.ScopeSession), Retention: "session", Strict: true, Declared: declaredBuiltIn,
	Description: "Session data that the host maintains: metadata and references from the platform, ids, and uploaded files. Tools and prompts need a grant to read it.",
	Schema:      memory.SessionMetaSchema,
}

// describe converts a declaration to the type that responses contain.
func (h *storeHandler) describe(c *call, st declare.Store) apitypes.Store {
	declared := declaredByAPI
	if a, ok := h.apps.App(c.app); ok {
		for _, other := range a.Stores {
			if other.Name == st.Name {
				declared = declaredInFile
			}
		}
	}
	return apitypes.Store{
		TechnicalName: st.Name, Name: st.Title, Description: st.Description, Access: string(st.Access), Retention: st.Retention.String(),
		Strict: st.Strict, Schema: st.Schema, Declared: declared,
	}
}

func (h *storeHandler) get(c *call, name string) (*storeOutput, error) {
	if name == declare.SessionMeta {
		return &storeOutput{builtIn}, nil
	}
	for _, st := range c.host.App().Stores {
		if st.Name == name {
			return &storeOutput{h.describe(c, st)}, nil
		}
	}
	return nil, abi.Faultf(abi.NotFound, "the store %q does not exist", name)
}

// declare creates or changes a store and returns its description.
func (h *storeHandler) declare(ctx context.Context, c *call, w apitypes.Store, create bool) (*storeOutput, error) {
	st := declare.Store{
		Name: w.TechnicalName, Title: w.Name, Description: w.Description, Kind: declare.KindDocument, Access: declare.Scope(w.Access),
		Strict: w.Strict, Schema: w.Schema,
	}
	if string(w.Schema) == "null" {
		st.Schema = nil
	}
	if w.Retention != "" {
		var err error
		if st.Retention, err = declare.ParseRetention(w.Retention); err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "retention: %v", err)
		}
	}
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	if err := h.apps.DeclareStore(ctx, c.principal.Tenant, c.app, st, create); err != nil {
		return nil, err
	}
	out := &storeOutput{h.describe(c, st)}
	out.Body.Mistakes = schemaMistakes(st)
	err = c.host.Ledger().RecordDeclared(caller, st.Name)
	if !create && st.Schema != nil {
		out.Body.Unfit = countUnfit(ctx, c, caller, st)
	}
	return out, err
}

// schemaMistakes returns the schema constraints that have no effect.
func schemaMistakes(st declare.Store) (list []apitypes.SchemaMistake) {
	mistakes, _ := memory.Mistakes(st) // the schema was valid when it was declared
	for _, m := range mistakes {
		list = append(list, apitypes.SchemaMistake{Pointer: m.Pointer, Message: m.Message, Hint: m.Hint})
	}
	return list
}

// countUnfit counts the records that violate a changed declaration. If the records cannot be
// counted, countUnfit returns nil, because the declaration has already been changed.
func countUnfit(ctx context.Context, c *call, caller host.Caller, st declare.Store) *apitypes.Unfit {
	unfit, all, err := c.host.Stores().Unfit(ctx, caller, st)
	if err != nil {
		return nil
	}
	return &apitypes.Unfit{Records: unfit, AtLeast: !all}
}
