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

// newPage shows the description of the API to people. It takes nothing from elsewhere: it is read where there is no
// network. It is made once: who asks for it needs no key, and making it takes a processor's time.
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
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_, _ = w.Write(page.Bytes()) // whose reader may have gone
	}, nil
}
