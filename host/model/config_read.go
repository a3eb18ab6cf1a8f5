package model

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolrun/toolrun/host/model/lexical"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// The limits of models.yaml.
const (
	minTimeout     = 100 * time.Millisecond
	maxTimeout     = 10 * time.Minute
	minAnswerBytes = 1 << 10
	maxAnswerBytes = 64 << 20
	maxTokens      = 1_000_000_000_000
	maxDim         = 16_384
	maxBatch       = 2048
)

var (
	nameRule = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`)
	envRule  = lazyregexp.New(`^[A-Z_][A-Z0-9_]{0,127}$`)
)

// ReadConfig reads models.yaml. The argument "file" is the name of the file in error messages. The
// error has the type Mistakes and contains all mistakes in the file.
func ReadConfig(file string, content []byte) (*Config, error) {
	r := &configReader{file: file}
	config := &Config{Chat: map[string]Entry{}, Embeddings: map[string]Entry{}}
	if root := r.parse(content); root != nil {
		for _, f := range r.fields(root, root.GetToken(), "the file") {
			switch f.key {
			case "chat":
				r.entries(f, config.Chat, chatKeys())
			case "embeddings":
				r.entries(f, config.Embeddings, embeddingKeys())
			default:
				r.unknown(f, "the file", []string{"chat", "embeddings"})
			}
		}
	}
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b Mistake) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, r.mistakes
	}
	return config, nil
}

func chatKeys() []string {
	return []string{"provider", "base_url", "model", "api_key_env", "proxy", "timeout", "answer_bytes", "tenants", "tokens_per_day"}
}

func embeddingKeys() []string {
	return append(chatKeys(), "dim", "query_prefix", "document_prefix", "batch")
}

// entries reads a section.
func (r *configReader) entries(section field, into map[string]Entry, known []string) {
	for _, f := range r.fields(section.value, section.at, section.key) {
		if !nameRule().MatchString(f.key) {
			r.refuse(f.at, "use a letter and up to 63 more letters, digits, '_', '-', '.' or ':'", "the text %q is not a valid name of a model", f.key)
			continue
		}
		if section.key == "embeddings" && f.key == lexical.Name {
			r.refuse(f.at, "choose another name", "the embedder %q is built in", f.key)
			continue
		}
		into[f.key] = r.entry(f, known)
	}
}

func (r *configReader) entry(entry field, known []string) Entry {
	e := Entry{Provider: "openai", TokensPerDay: Budget{DefaultTenantTokens, DefaultAppTokens, DefaultUserTokens}}
	required := []string{"base_url", "model"}
	if slices.Contains(known, "dim") {
		required = append(required, "dim")
		e.Batch = DefaultBatch
	}
	for _, f := range r.fields(entry.value, entry.at, entry.key) {
		required = slices.DeleteFunc(required, func(key string) bool { return key == f.key })
		if !slices.Contains(known, f.key) {
			r.unknown(f, entry.key, known)
			continue
		}
		r.setting(f, &e)
	}
	for _, key := range required {
		r.refuse(entry.at, "", "%s does not contain the key %s", entry.key, key)
	}
	return e
}

// setting reads the value of a known key of an entry.
func (r *configReader) setting(f field, e *Entry) {
	switch f.key {
	case "provider":
		if e.Provider = r.text(f); e.Provider != "" && e.Provider != "openai" {
			r.refuse(f.at, "write `provider: openai` for every server with OpenAI's protocol", "the provider %q does not exist", e.Provider)
		}
	case "base_url":
		e.BaseURL = r.url(f)
	case "model":
		e.Model = r.text(f)
	case "api_key_env":
		// An error does not quote the value. Someone may have pasted an API key into the wrong
		// setting.
		if e.KeyEnv = r.text(f); e.KeyEnv != "" && !envRule().MatchString(e.KeyEnv) {
			r.refuse(f.at, "write the name of an environment variable instead of the API key", "the value of `api_key_env` must be the name of an environment variable, such as OPENAI_API_KEY")
		}
	case "proxy":
		e.Proxy = r.url(f)
	case "timeout":
		e.Timeout = r.duration(f)
	case "answer_bytes":
		e.AnswerBytes = r.size(f)
	case "tenants":
		e.Tenants = r.list(f)
	case "tokens_per_day":
		r.budget(f, &e.TokensPerDay)
	case "dim":
		e.Dim = int(r.number(f, maxDim))
	case "batch":
		e.Batch = int(r.number(f, maxBatch))
	case "query_prefix":
		e.QueryPrefix = r.text(f)
	case "document_prefix":
		e.DocumentPrefix = r.text(f)
	}
}

// url checks a URL. The errors do not quote the URL, because the URL can contain credentials.
func (r *configReader) url(f field) string {
	text := r.text(f)
	u, err := url.Parse(text)
	if text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "") {
		r.refuse(f.at, "write a URL such as https://api.example.com/v1", "%s must be an http or https URL without a query", f.key)
	}
	return text
}

func (r *configReader) duration(f field) time.Duration {
	d, err := time.ParseDuration(scalar(f.value))
	if err != nil || d < minTimeout || d > maxTimeout {
		r.refuse(f.at, "", "%s must be a duration between %s and %s, such as 30s", f.key, minTimeout, maxTimeout)
		return 0
	}
	return d
}

func (r *configReader) size(f field) int {
	size, ok := bytesize.Parse(scalar(f.value))
	if !ok || size < minAnswerBytes || size > maxAnswerBytes {
		r.refuse(f.at, "", "%s must be a size between %s and %s, such as 4MiB", f.key, bytesize.Format(minAnswerBytes), bytesize.Format(maxAnswerBytes))
		return 0
	}
	return int(size)
}

// scalar returns the value of a string. For other YAML values, it returns "".
func scalar(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return ""
}

func (r *configReader) budget(section field, b *Budget) {
	for _, f := range r.fields(section.value, section.at, section.key) {
		switch f.key {
		case "tenant":
			b.Tenant = r.number(f, maxTokens)
		case "app":
			b.App = r.number(f, maxTokens)
		case "user":
			b.User = r.number(f, maxTokens)
		default:
			r.unknown(f, section.key, []string{"tenant", "app", "user"})
		}
	}
}
