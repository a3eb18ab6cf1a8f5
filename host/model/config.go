package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/model/lexical"
)

// Config is the content of models.yaml. Config contains the models that the operator offers.
type Config struct {
	// Chat contains the chat models, and Embeddings contains the embedding models. The key of each
	// map entry is the name under which apps use the model.
	Chat, Embeddings map[string]Entry
}

// HasEmbedder reports whether the embedder with the given name is configured or built in.
func (c *Config) HasEmbedder(name string) bool {
	_, ok := c.Embeddings[name]
	return ok || name == lexical.Name
}

// Section is a section of models.yaml. Models in different sections can have the same name.
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
	// Model is the name that the provider uses for the model. Required.
	Model string
	// KeyEnv is the environment variable that contains the API key. Default: no key.
	KeyEnv string
	// Proxy is the URL of the HTTP proxy for requests to the provider. Default: none.
	Proxy string
	// Timeout is the time limit of each request. If Timeout is 0, the default of the provider
	// applies.
	Timeout time.Duration
	// AnswerBytes is the maximum size of an answer. If AnswerBytes is 0, the default of the
	// provider applies.
	AnswerBytes int
	// Tenants contains the ids of the tenants that can use the model. Default: all.
	Tenants []string
	// TokensPerDay contains the maximum numbers of tokens that can be used per day.
	TokensPerDay Budget
	// The fields Dim, QueryPrefix, DocumentPrefix and Batch are used only for embedders. Dim is
	// required. Batch is the maximum number of texts in one request. Default: DefaultBatch.
	Dim                         int
	QueryPrefix, DocumentPrefix string
	Batch                       int
}

// A Budget limits the number of tokens per day. A Budget contains separate limits for a tenant, an
// app and a user.
type Budget struct {
	// The default of Tenant is DefaultTenantTokens, the default of App is DefaultAppTokens, and the
	// default of User is DefaultUserTokens.
	Tenant, App, User int64
}

// These constants are the defaults of the fields of a Budget.
const (
	DefaultTenantTokens = 10_000_000
	DefaultAppTokens    = 10_000_000
	DefaultUserTokens   = 1_000_000
)

// DefaultBatch is the default of Entry.Batch. Some servers accept only 32 texts in a request.
const DefaultBatch = 32

// Mistake is an error in models.yaml. The texts of a Mistake never quote a value from the file,
// because the value can contain credentials.
type Mistake struct {
	File string
	// The first line and the first column have the number 1.
	Line, Column int
	Message      string
	// Hint describes how to fix the mistake. Without a hint, it is "".
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

// Error returns the texts of all mistakes. Each mistake is on a separate line.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, mistake := range m {
		lines[i] = mistake.Error()
	}
	return strings.Join(lines, "\n")
}
