package service

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows the description of the API to people. It takes nothing from elsewhere: it is read where there is no network.
func (s *Service) page(w http.ResponseWriter, _ *http.Request) {
	text, err := s.api.OpenAPI()
	var doc any
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		httpError(w, s.options, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if err := pageTemplate.Execute(w, doc); err != nil {
		s.options.Logger.Error("write the page of the API", "error", err)
	}
}

func httpError(w http.ResponseWriter, opts Options, err error) {
	opts.Logger.Error("describe the API", "error", err)
	say(w, http.StatusInternalServerError, "the API cannot be described")
}
