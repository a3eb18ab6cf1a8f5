package baseline

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/hostile/corpus"
)

// host stores records in maps. Tool code has direct access to the maps.
type host struct {
	stores   map[string]map[string]any
	deadline time.Duration
}

func newHost() *host {
	return &host{stores: map[string]map[string]any{
		corpus.Own:    nil,
		corpus.Shared: {"marker": 1},
		corpus.Typed:  nil,
		corpus.Vault:  {"secret": corpus.Secret},
	}}
}

// intact reports whether the host still works. A host works if the protected stores are unchanged
// and a benign tool returns the correct result.
func (h *host) intact() bool {
	stores, err := json.Marshal([]any{h.stores[corpus.Shared], h.stores[corpus.Vault]})
	if err != nil || string(stores) != `[{"marker":1},{"secret":"`+corpus.Secret+`"}]` {
		return false
	}
	vm := goja.New()
	h.bind(vm, map[string]any{"a": 1, "b": 2})
	sum, err := vm.RunString("input.a + input.b + ({}.polluted ? 1 : 0)")
	return err == nil && sum.ToInteger() == 3
}

func (h *host) granted(store string) error {
	if _, exists := h.stores[store]; !exists || store == corpus.Vault {
		return fmt.Errorf("unknown store %q", store)
	}
	return nil
}

func (h *host) get(store string) (map[string]any, error) {
	return h.stores[store], h.granted(store)
}

func (h *host) set(store string, value map[string]any) error {
	if err := h.granted(store); err != nil {
		return err
	}
	if h.stores[store] == nil {
		h.stores[store] = map[string]any{}
	}
	maps.Copy(h.stores[store], value)
	return nil
}

func (h *host) remove(store string) error {
	if err := h.granted(store); err != nil {
		return err
	}
	h.stores[store] = nil
	return nil
}

// bind sets the global variables of a runtime in the way that goja's documentation describes.
func (h *host) bind(vm *goja.Runtime, input map[string]any) {
	var logs []string
	log := func(values ...any) { logs = append(logs, fmt.Sprint(values...)) }
	for name, value := range map[string]any{
		"input":   input,
		"context": map[string]any{"env": map[string]any{}},
		"memory":  map[string]any{"get_content": h.get, "set_content": h.set, "delete_content": h.remove},
		"console": map[string]any{"log": log, "info": log, "warn": log, "error": log},
	} {
		_ = vm.Set(name, value) // Set fails only if the global object is frozen
	}
}
