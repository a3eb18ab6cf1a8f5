package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model/lexical"
)

// A Factory contains the functions that create the models of one provider. The argument "key" is
// the API key. Without an API key, it is "".
type Factory struct {
	Chat     func(entry Entry, key string) (Chat, error)
	Embedder func(entry Entry, key string) (Embedder, error)
}

// A Set contains the configured models and counts how many tokens they use. Set is safe for
// concurrent use. If the Set is nil, it contains only the embedder "lexical".
type Set struct {
	config    *Config
	chats     map[string]Chat
	embedders map[string]Embedder
	spent     spending
	vectors   *VectorCache
}

// NewSet creates the models that a configuration contains. The argument "factories" maps the name
// of each provider to its Factory. The function "getenv" returns the value of an environment
// variable. If the variable is not set, the result is "". The error lists all models that cannot be
// created. No error of NewSet contains an API key.
func NewSet(config *Config, factories map[string]Factory, getenv func(name string) string) (*Set, error) {
	s := &Set{config: config, chats: map[string]Chat{}, embedders: map[string]Embedder{}, vectors: NewVectorCache(0)}
	var errs []error
	for name, entry := range config.Chat {
		chat, err := construct(entry, factories[entry.Provider].Chat, getenv)
		if err != nil {
			errs = append(errs, fmt.Errorf("chat model %s: %w", name, err))
		}
		s.chats[name] = chat
	}
	for name, entry := range config.Embeddings {
		embedder, err := construct(entry, factories[entry.Provider].Embedder, getenv)
		if err != nil {
			errs = append(errs, fmt.Errorf("embedding model %s: %w", name, err))
		}
		s.embedders[name] = embedder
	}
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b error) int { return slices.Compare([]byte(a.Error()), []byte(b.Error())) })
		return nil, errors.Join(errs...)
	}
	return s, nil
}

func construct[T any](entry Entry, factory func(Entry, string) (T, error), getenv func(string) string) (made T, err error) {
	if factory == nil {
		return made, fmt.Errorf("the provider %q does not exist", entry.Provider)
	}
	key := ""
	if entry.KeyEnv != "" {
		if key = getenv(entry.KeyEnv); key == "" {
			return made, fmt.Errorf("the environment variable %s is not set", entry.KeyEnv)
		}
	}
	return factory(entry, key)
}

// Vectors returns the cache of vectors. The cache contains vectors of all embedders except local
// embedders.
func (s *Set) Vectors() *VectorCache { return s.vectors }

// HasEmbedder reports whether the embedder with the given name can be used. The embedder is built
// in or configured for at least one tenant.
func (s *Set) HasEmbedder(name string) bool {
	return name == lexical.Name || s != nil && s.config.HasEmbedder(name)
}

// HasChat reports whether a chat model with the given name is configured for at least one tenant.
func (s *Set) HasChat(name string) bool {
	_, ok := s.config.Chat[name]
	return ok
}

// Chat returns the chat model with the given name. Chat also returns the entry of the model in
// models.yaml. If the model does not exist, or if the tenant cannot use it, the error is the fault
// unavailable. The text of the fault is the same in both cases. If the Set is nil, it has no chat
// models.
func (s *Set) Chat(tenant, name string) (Chat, Entry, error) {
	if s == nil {
		return resolve[Chat](nil, nil, tenant, name)
	}
	return resolve(s.chats, s.config.Chat, tenant, name)
}

// Embedder is like Chat, but returns an embedder. Every tenant can use the embedder "lexical". Its
// entry is empty.
func (s *Set) Embedder(tenant, name string) (Embedder, Entry, error) {
	if name == lexical.Name {
		return Lexical(), Entry{}, nil
	}
	if s == nil {
		return resolve[Embedder](nil, nil, tenant, name)
	}
	return resolve(s.embedders, s.config.Embeddings, tenant, name)
}

func resolve[T any](models map[string]T, entries map[string]Entry, tenant, name string) (found T, entry Entry, err error) {
	entry, ok := entries[name]
	if !ok || len(entry.Tenants) > 0 && !slices.Contains(entry.Tenants, tenant) {
		fault := abi.Faultf(abi.Unavailable, "no model has the name %q", name).
			WithHint("ask the operator to declare the model in models.yaml; pass this file to a command with --models FILE")
		return found, Entry{}, fault
	}
	return models[name], entry, nil
}
