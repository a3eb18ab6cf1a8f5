package pdfium

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// rewrite adds support for fuel and snapshots to the library. With fuel, the host can stop an
// instance. With snapshots, the host can restore the state of an instance.
func rewrite(code []byte) (machine.Code, error) {
	parsed, err := binary.Parse(code, binary.Limits{})
	if err != nil {
		return machine.Code{}, err
	}
	rewritten, err := machine.Rewrite(parsed, machine.RewriteOptions{})
	if err == nil {
		err = rewritten.NotRestorable
	}
	return rewritten, err
}

// provide instantiates the modules that the library imports.
func provide(ctx context.Context, runtime wazero.Runtime, code wazero.CompiledModule) error {
	return errors.Join(provideModule(ctx, runtime, code, envModule), provideModule(ctx, runtime, code, wasiModule))
}
