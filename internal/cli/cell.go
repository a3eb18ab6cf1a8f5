package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// wasmStackBytes is what wazero takes for the stack of a guest that calls as deep as it may, while it grows.
const wasmStackBytes = 128 << 20

// languages are what cells run. The process that starts cells and the cells themselves have the same ones.
func languages() []cell.Language {
	return []cell.Language{
		{New: func(s cell.Setup) engine.Engine { return js.New(js.WithPanicLog(s.Panicked)) }},
		{Artefacts: true, ExtraBytes: wasmStackBytes, New: func(s cell.Setup) engine.Engine {
			return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
		}},
	}
}

// cellCommand is what the processes do that run guests. Nobody calls it by hand.
func (p *program) cellCommand() *cobra.Command {
	var serve bool
	cmd := &cobra.Command{
		Use:     "cell",
		Short:   "Run guests for the toolrun that started this one",
		Example: "  toolrun cell --serve",
		Hidden:  true,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if !serve {
				return usagef("toolrun starts such processes by itself", "toolrun cell is not for people")
			}
			return cell.Serve(languages()...)
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "speak with the parent on stdin and stdout")
	return cmd
}
