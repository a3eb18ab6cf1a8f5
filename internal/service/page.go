package service

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// newPage returns a page with the documentation of the API. The page loads nothing from other
// servers, so it works without a network. The page is rendered only once, because it requires no
// key and rendering uses CPU time.
func newPage(api *httpapi.Server) (http.HandlerFunc, error) {
	text, err := api.OpenAPI()
	var doc any
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	var page bytes.Buffer
	if err == nil {
		err = pageTemplate.Execute(&page, doc)
	}
	if err != nil {
		return nil, fmt.Errorf("render API description: %w", err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_, _ = w.Write(page.Bytes()) // the client may have disconnected
	}, nil
}
