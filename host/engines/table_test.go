package engines_test

import (
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestTable compares file extensions. App files, the engines in workers and the engines in this
// process must support the same extensions.
func TestTable(t *testing.T) {
	want := engine.Extensions(engines.Infos())
	if got := app.Extensions(); !slices.Equal(got, want) {
		t.Errorf("app.Extensions() = %q; want %q, which go generate ./host/engines writes", got, want)
	}
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if got := engine.Extensions(engine.Infos(pool.Engines())); !slices.Equal(got, want) {
		t.Errorf("the extensions of a pool are %q; want %q", got, want)
	}
	for _, i := range engines.Infos() {
		for _, l := range i.Languages {
			for _, extension := range l.Extensions {
				if !slices.Contains(i.Extensions, extension) {
					t.Errorf("%s lists files %s, which the engine %s does not run", l.Title, extension, i.Name)
				}
			}
		}
	}
}
