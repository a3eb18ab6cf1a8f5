//go:build linux && (amd64 || arm64)

package native

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// The names of the engines: the workers of one have what an interpreter's have, those of the other may also make memory
// files, and read compiled code.
const (
	plain    = "native"
	compiled = "native-compiled"
)

// Languages are those that workers of this corpus run. A program that runs the corpus gives them to sandbox.Main.
func Languages() []sandbox.Language {
	return []sandbox.Language{
		{New: func(s sandbox.Setup) engine.Engine { return guests{plain, s.CacheDir} }},
		{New: func(s sandbox.Setup) engine.Engine { return guests{compiled, s.CacheDir} }, CacheCode: true, MemoryFiles: true},
	}
}

// guests is an engine whose sources are names of attacks.
type guests struct{ name, dir string }

func (g guests) Info() engine.Info {
	return engine.Info{Name: g.name, Extensions: []string{"." + g.name}}
}

func (g guests) Load(_ context.Context, src engine.Source) (engine.Program, error) {
	name := string(src.Code)
	g.keep()
	if name == good {
		return guest{}, nil
	}
	a := find(name)
	if a == nil {
		return nil, abi.Faultf(abi.SourceInvalid, "there is no attack %q", name)
	}
	if a.load != nil {
		return guest{}, a.load(g.dir)
	}
	return guest{a}, nil
}

// keep leaves compiled code, where there is a folder for it: the workers that run the guest may open files then.
func (g guests) keep() {
	if g.dir != "" && os.MkdirAll(g.dir, 0o700) == nil {
		_ = os.WriteFile(filepath.Join(g.dir, "code"), nil, 0o600) // those that run guests may not
	}
}

// good is the source of a guest that means no harm.
const good = "good"

// guest is an attack, or one that means no harm.
type guest struct{ attack *Attack }

func (guest) Close() error { return nil }

// succeeded is what an attack answers that reached what it wanted.
const succeeded = "succeeded"

// Run answers that the attack succeeded, or the error.
func (g guest) Run(_ context.Context, in engine.Input, _ engine.Host) (engine.Output, error) {
	if g.attack == nil {
		return engine.Output{Output: in.Input}, nil
	}
	var v victims
	if err := json.Unmarshal(in.Input, &v); err != nil {
		return engine.Output{}, err
	}
	answer := succeeded
	if err := g.attack.run(v); err != nil {
		answer = err.Error()
	}
	text, err := json.Marshal(answer)
	return engine.Output{Output: text}, err
}

// victims are what attacks are on.
type victims struct {
	Host      int    `json:"host"` // its process
	Neighbour int    `json:"neighbour"`
	File      string `json:"file"` // that is none of the guest's business
}

// errHeld is the error of an attack that got less than it wanted.
var errHeld = errors.New("held")
