package js

import (
	"context"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// buildScript bundles a tool into one script. The tool's source can have any form that the bundler
// supports.
func buildScript(ctx context.Context, src engine.Source) (*script, error) {
	src, layout, err := translateMachine(src)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Build(ctx, src)
	if f, ok := err.(*abi.Fault); ok && layout != nil && f.Line > 0 {
		f.Line, f.Column = layout.position(f.Line, f.Column)
	}
	if err != nil {
		return nil, err
	}
	s := &script{code: b.Code, warnings: b.Warnings, inputs: b.Inputs, position: b.Position, stringifies: strings.Contains(b.Code, "stringify")}
	if layout != nil {
		s.position = func(line, column int) (file string, l, c int, ok bool) {
			file, l, c, ok = b.Position(line, column)
			if ok {
				l, c = layout.position(l, c)
			}
			return file, l, c, ok
		}
	}
	return s, nil
}
