package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type importFileInput struct {
	apitypes.CollectionPlace
	apitypes.ImportQuery
	formFile
}

type importedOutput struct{ Body apitypes.ImportedFile }

// registerImport adds the operation that imports a file into a collection.
func (h *fileHandler) registerImport(s *Server) {
	form := &huma.MediaType{}
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "import-file", Method: http.MethodPost, Path: "/collections/{collection}/files", Tags: []string{"collections"},
		RequestBody:  &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{multipartType: form}},
		MaxBodyBytes: maxUpload, BodyReadTimeout: time.Minute, Middlewares: huma.Middlewares{h.reserveUpload}, Summary: "Import a file into a collection",
		Description: "Divides the text of a PDF, DOCX, TXT, Markdown or JSON file into entries. The metadata of each entry contains the source, the offset and, if known, " +
			"the page and the headings. A second import of the same source replaces the entries and removes those that are not part of the text anymore. " +
			"The file itself is not stored. The size limit is 20 MiB, and 4 MiB of text.",
	}, h.importFile)
	form.Schema = uploadSchema // set after registration; otherwise the framework would read the body
}

// importFile imports the text of a file. The file is not stored.
func (h *fileHandler) importFile(ctx context.Context, c *call, in *importFileInput) (*importedOutput, error) {
	collections, caller, err := c.inCollection(ctx, in.CollectionPlace)
	if err != nil {
		return nil, err
	}
	name, err := extract.CleanName(in.file.name)
	if err != nil {
		return nil, err
	}
	if err := collections.Check(in.Collection); err != nil { // checked before the text is extracted
		return nil, err
	}
	d := host.Document{Source: in.Source, Namespace: in.Namespace, TTL: in.TTL}
	if in.Source == "" {
		d.Source = name
	}
	if in.Metadata != "" {
		d.Metadata = json.RawMessage(in.Metadata)
	}
	flow := admission.Flow{Tenant: c.principal.Tenant, App: c.app, User: uploader(c.principal, caller)}
	text, err := h.documents.ReadDocument(ctx, flow, name, in.file.mediaType, in.file.content)
	if err != nil {
		return nil, err
	}
	d.Text = text.Text
	done, err := collections.ImportDocument(ctx, caller, in.Collection, d, nil)
	if err != nil {
		return nil, err
	}
	return &importedOutput{apitypes.ImportedFile{Source: done.Source, Entries: done.Entries, Unchanged: done.Unchanged, Removed: done.Removed, Truncated: text.Truncated}}, nil
}
