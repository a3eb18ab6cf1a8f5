package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/model/lexical"
)

// Config is the content of models.yaml: the models that the operator offers.
type Config struct {
	// Chat and Embeddings contain the models. The key of each model is the name that apps use for
	// the model.
	Chat, Embeddings map[string]Entry
}

// HasEmbedder reports whether an embedder with that name is configured or built in.
func (c *Config) HasEmbedder(name string) bool {
	_, ok := c.Embeddings[name]
	return ok || name == lexical.Name
}

// Section is a section of models.yaml. A model in one section can have the same name as a model in
// another section.
type Section string

// The sections.
const (
	Chats      Section = "chat"
	Embeddings Section = "embeddings"
)

// section returns the models of a section.
func (c *Config) section(s Section) map[string]Entry {
	if s == Embeddings {
		return c.Embeddings
	}
	return c.Chat
}

// Entry is a model in models.yaml.
type Entry struct {
	// Provider is the protocol. Default: openai.
	Provider string
	// BaseURL is the address of the provider. Required. BaseURL can contain credentials.
	BaseURL string
	// Model is the name of the model at the provider. Required.
	Model string
	// KeyEnv is the environment variable that contains the API key. Default: no key.
	KeyEnv string
	// Proxy is the URL of an HTTP proxy. Default: none.
	Proxy string
	// Timeout is the time limit of a request. The default of Timeout is the default of the
	// provider.
	Timeout time.Duration
	// AnswerBytes is the maximum size of an answer. The default of AnswerBytes is the default of
	// the provider.
	AnswerBytes int
	// Tenants contains the ids of the tenants that can use the model. Default: all.
	Tenants []string
	// TokensPerDay is the maximum number of tokens per day.
	TokensPerDay Budget
	// Dim, QueryPrefix, DocumentPrefix and Batch configure an embedder. Dim is required. Batch is the
	// maximum number of texts of a request. Default: DefaultBatch.
	Dim                         int
	QueryPrefix, DocumentPrefix string
	Batch                       int
}

// Budget contains the maximum number of tokens per day for each tenant, each app and each user.
type Budget struct {
	// Tenant, App and User have the defaults DefaultTenantTokens, DefaultAppTokens and
	// DefaultUserTokens.
	Tenant, App, User int64
}

// These are the defaults of a Budget.
const (
	DefaultTenantTokens = 10_000_000
	DefaultAppTokens    = 10_000_000
	DefaultUserTokens   = 1_000_000
)

// DefaultBatch is the default of Entry.Batch. Some servers accept only 32 texts in a request.
const DefaultBatch = 32

// Mistake is an error in models.yaml. The texts of a Mistake do not quote values, because a value
// can contain credentials.
type Mistake struct {
	File string
	// Line and Column start at 1.
	Line, Column int
	Message      string
	// Hint is advice on how to fix the mistake, or "".
	Hint string
}

// Error returns the position, the message and the hint of the mistake.
func (m Mistake) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message)
	if m.Hint != "" {
		text += " (" + m.Hint + ")"
	}
	return text
}

// Mistakes lists all errors in models.yaml, in the order of the file.
type Mistakes []Mistake

// Error returns the mistakes, one per line.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, mistake := range m {
		lines[i] = mistake.Error()
	}
	return strings.Join(lines, "\n")
}
