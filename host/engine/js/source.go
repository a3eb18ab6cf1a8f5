package js

import (
	"context"
	"strings"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// buildScript bundles a tool into one script, whatever the form of its source.
func buildScript(ctx context.Context, src engine.Source) (*script, error) {
	b, err := bundle.Build(ctx, src)
	if err != nil {
		return nil, err
	}
	return &script{code: b.Code, warnings: b.Warnings, inputs: b.Inputs, position: b.Position, stringifies: strings.Contains(b.Code, "stringify")}, nil
}
