//go:build !linux || (!amd64 && !arm64)

package native

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/sandbox"
)

var errPlatform = errors.New("native guests run on Linux on amd64 and arm64 only")

// Attack is something that native code tries.
type Attack struct{ Name string }

// Attacks returns none: there is no wall to hold them.
func Attacks() []Attack { return nil }

// Missing returns none.
func Missing() ([]string, error) { return nil, nil }

// Needs reports false: there is no attack.
func Needs(string, []string) bool { return false }

// Languages returns none.
func Languages() []sandbox.Language { return nil }

// Main fails.
func Main([]string) error { return errPlatform }

// Run fails where there is something to try.
func Run(context.Context, []string, []Attack, string) ([]Result, error) { return nil, errPlatform }
