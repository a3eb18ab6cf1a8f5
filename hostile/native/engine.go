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

// The following constants are the names of the engines. Workers of the engine "plain" have the
// permissions of an interpreter. Workers of the engine "compiled" can also create memory files and
// read compiled code.
const (
	plain    = "native"
	compiled = "native-compiled"
)

// Languages returns the languages of this corpus. A program that runs the corpus passes the
// languages to sandbox.Main.
func Languages() []sandbox.Language {
	return []sandbox.Language{
		{New: func(s sandbox.Setup) engine.Engine { return guests{plain, s.CacheDir} }},
		{New: func(s sandbox.Setup) engine.Engine { return guests{compiled, s.CacheDir} }, CacheCode: true, MemoryFiles: true},
	}
}

// guests is an engine. The source of a guest is the name of an attack.
type guests struct{ name, dir string }

func (g guests) Info() engine.Info {
	return engine.Info{Name: g.name, Extensions: []string{"." + g.name}}
}

func (g guests) Load(_ context.Context, src engine.Source) (engine.Program, error) {
	name := string(src.Code)
	g.cacheCode()
	if name == good {
		return guest{}, nil
	}
	a := find(name)
	if a == nil {
		return nil, abi.Faultf(abi.SourceInvalid, "unknown attack %q", name)
	}
	if a.load != nil {
		return guest{}, a.load(g.dir)
	}
	return guest{a}, nil
}

// cacheCode creates the folder for compiled code and a file in it, if the engine has such a folder.
// Workers can open files only if this folder exists.
func (g guests) cacheCode() {
	if g.dir != "" && os.MkdirAll(g.dir, 0o700) == nil {
		_ = os.WriteFile(filepath.Join(g.dir, "code"), nil, 0o600) // the write fails in workers that run guests
	}
}

// good is the source of a harmless guest.
const good = "good"

// guest runs an attack. If the attack is nil, the guest is harmless.
type guest struct{ attack *Attack }

func (guest) Close() error { return nil }

// succeeded is the output of an attack that was not blocked.
const succeeded = "succeeded"

// Run runs the attack. The output of a guest is the constant "succeeded" or the error of the
// attack.
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

// victims contains the targets of attacks.
type victims struct {
	Host      int    `json:"host"` // the process ID of the host
	Neighbour int    `json:"neighbour"`
	File      string `json:"file"` // a file that the guest must not access
}

// errBlocked is the error of an attack that did not reach its goal.
var errBlocked = errors.New("blocked")
