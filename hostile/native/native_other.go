//go:build !linux || (!amd64 && !arm64)

package native

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/sandbox"
)

var errPlatform = errors.New("native guests require Linux on amd64 or arm64")

// Attack is an attempt of native code to escape from a worker.
type Attack struct{ Name string }

// Attacks returns nil, because this system has no isolation layers.
func Attacks() []Attack { return nil }

// Missing returns nil.
func Missing() ([]string, error) { return nil, nil }

// Needs reports false, because there are no attacks.
func Needs(string, []string) bool { return false }

// Languages returns nil.
func Languages() []sandbox.Language { return nil }

// Main returns an error.
func Main([]string) error { return errPlatform }

// Run returns an error.
func Run(context.Context, []string, []Attack, string) ([]Result, error) { return nil, errPlatform }
