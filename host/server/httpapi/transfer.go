package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type exportOutput struct{ Body json.RawMessage }

type importInput struct {
	apitypes.Target
	Body json.RawMessage `doc:"A document from an export, or another app file in JSON"`
}

type importOutput struct{ Body apitypes.Imported }

// importStores is the id of the operation that accepts an app file as its body.
const importStores = "import-stores"

// transferHandler serves requests that export or import an app's configuration.
type transferHandler struct {
	stores     *storeHandler
	extensions []string // file extensions of source files in imported documents
}

func (h *transferHandler) register(s *Server) {
	tags := []string{"stores"}
	add(s, auth.Transfer, huma.Operation{
		OperationID: "export-app", Method: http.MethodGet, Path: "/export", Tags: tags, Summary: "Export the configuration of an app",
		Description: "Returns the stores (with schemas, access and retention), the tools and the prompts of an app, as an app file in JSON. The response contains no stored data.",
	}, func(_ context.Context, c *call, _ *apitypes.Target) (*exportOutput, error) {
		document, err := app.Export(c.host.App())
		if err != nil {
			return nil, abi.Faultf(abi.SourceInvalid, "%v", err)
		}
		caller, err := c.named("", "")
		if err != nil {
			return nil, err
		}
		return &exportOutput{document}, c.host.Ledger().RecordExported(caller)
	})
	add(s, auth.Transfer, huma.Operation{
		OperationID: importStores, Method: http.MethodPost, Path: "/import", Tags: tags, Summary: "Import stores",
		Description: "Creates or changes, in one transaction, the stores of an exported document that the app file does not declare. Tools and prompts are not imported, because they are deployed with the app file. The response lists the omitted parts.",
	}, h.importStores)
}

// union returns the items of the argument "list", followed by all items of the argument "other"
// that are not in "list".
func union(list, other []string) []string {
	for _, item := range other {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

func (h *transferHandler) importStores(ctx context.Context, c *call, in *importInput) (*importOutput, error) {
	loader := app.Loader{Extensions: h.extensions}
	imported, problems := loader.Import("body", in.Body)
	if err := problems.Err(); err != nil || imported == nil {
		return nil, abi.Faultf(abi.SourceInvalid, "the document cannot be imported: %s", strings.TrimSpace(problems.Error()))
	}
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	names, stores, left := []string{}, []declare.Store{}, leftOut(c, imported)
	for _, st := range imported.Stores {
		if known, err := h.stores.get(c, st.Name); err == nil && known.Body.Declared == declaredInFile {
			left = append(left, apitypes.LeftOut{Kind: "store", Name: st.Name, Reason: "the store is declared in the app file"})
			continue
		}
		names, stores = append(names, st.Name), append(stores, st)
	}
	if len(stores) > 0 {
		err = h.stores.apps.DeclareStores(ctx, c.principal.Tenant, c.app, stores)
	}
	if recorded := c.host.Ledger().RecordImported(caller, err, names...); err == nil {
		err = recorded
	}
	if err != nil {
		return nil, err
	}
	return &importOutput{apitypes.Imported{Stores: names, LeftOut: left}}, nil
}

// leftOut lists the parts of a document that are not imported: all parts except stores.
func leftOut(c *call, document *app.App) []apitypes.LeftOut {
	left := []apitypes.LeftOut{}
	if document.ID != c.app {
		left = append(left, apitypes.LeftOut{Kind: "app", Name: document.ID, Reason: "only the stores of the document were declared, in the app " + c.app + "; records were not copied"})
	}
	const deployed = "facts, blocks, agents, tools and prompts are deployed with the app file"
	for _, f := range document.Facts {
		left = append(left, apitypes.LeftOut{Kind: "fact", Name: f.Path, Reason: deployed})
	}
	for _, b := range document.Blocks {
		left = append(left, apitypes.LeftOut{Kind: "block", Name: b.Name, Reason: deployed})
	}
	for _, file := range document.AgentFiles {
		left = append(left, apitypes.LeftOut{Kind: "agent", Name: file, Reason: deployed})
	}
	for _, t := range document.Tools {
		left = append(left, apitypes.LeftOut{Kind: "tool", Name: t.Name, Reason: deployed})
	}
	for _, p := range document.Prompts {
		left = append(left, apitypes.LeftOut{Kind: "prompt", Name: p.Name, Reason: deployed})
	}
	return left
}
