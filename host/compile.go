package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// compiler compiles the tools for a Host. If all runs that wait for a compilation have ended, the
// compilation nevertheless continues.
type compiler struct {
	h *Host
	// untilClosed is a context. untilClosed is canceled when the Host is closed.
	untilClosed context.Context
}

// loader returns a function that compiles a tool. The arguments of this function are the tenant
// whose run needs the tool, and a time limit.
func (c *compiler) loader(t *tool) func(tenant string, limit time.Duration) (engine.Program, error) {
	return func(tenant string, limit time.Duration) (engine.Program, error) {
		return c.compile(c.untilClosed, t, tenant, limit)
	}
}

// engine returns the engine that supports the file extension of a tool.
func (c *compiler) engine(t *tool) (engine.Engine, error) {
	ext := path.Ext(t.Source)
	if e := c.h.engines[ext]; e != nil {
		return e, nil
	}
	f := abi.Faultf(abi.SourceInvalid, "no engine of this host supports %s files", ext)
	if len(c.h.engines) == 0 {
		return nil, f.WithHint("set Options.Engines, for example to the engines of a worker pool")
	}
	return nil, f.WithHint("use a file with one of these extensions: %s", strings.Join(slices.Sorted(maps.Keys(c.h.engines)), ", "))
}

// compile reads the source of a tool and compiles it with the engine for its file extension. Before
// this, compile waits at the gate, in the flow of the tenant.
func (c *compiler) compile(ctx context.Context, t *tool, tenant string, limit time.Duration) (engine.Program, error) {
	eng, err := c.engine(t)
	if err != nil {
		return nil, err
	}
	src, err := t.source()
	if err != nil {
		return nil, err
	}
	t.isolated, t.memory = engine.IsIsolated(eng), engine.DefaultMemory(eng)
	flow := admission.Flow{App: c.h.app.ID, Tenant: tenant}
	if err := c.admit(ctx, flow, limit); err != nil {
		return nil, err
	}
	defer c.h.gate.Release(flow)
	timeout := abi.Faultf(abi.Timeout, "the compilation of the tool exceeded its time limit (%s)", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeout.WithHint("%s", c.loadHint(limit)))
	defer cancel()
	return eng.Load(ctx, src)
}

// loadHint returns a hint for a compilation that exceeds its time limit. The hint names the limit
// that can be raised: the time limit of the run, or the host's LoadTimeout.
func (c *compiler) loadHint(limit time.Duration) string {
	if limit < c.h.limits.LoadTimeout {
		return "shorten the code, or raise the run's time limit, which includes compilation"
	}
	return "make the tool smaller, or raise the host's LoadTimeout"
}

// admit waits until the gate admits the compilation. If this takes too long, the code of the fault
// is unavailable, because the tool itself has not failed. The next run of the tool tries to compile
// the tool again.
func (c *compiler) admit(ctx context.Context, flow admission.Flow, limit time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := c.h.gate.Acquire(waiting, flow)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errHostClosed
	case errors.Is(err, abi.Timeout):
		return abi.Faultf(abi.Unavailable, "the compilation of the tool did not start within %s", limit).
			WithHint("retry in a second, with fewer concurrent requests")
	}
	return err
}

// source reads the source of a tool. If a tool has its own folder, it can import files from this
// folder. If a tool is a single file, it cannot import files, because the files next to it belong
// to other tools.
func (c *compiler) source(t *tool) (engine.Source, error) {
	dir := t.Dir
	if dir == "" {
		dir = path.Dir(t.Source)
	}
	files, err := fs.Sub(c.h.app.Files, dir)
	if err != nil {
		return engine.Source{}, abi.Faultf(abi.SourceInvalid, "cannot open the folder of the tool %q", t.Name)
	}
	src := engine.Source{Path: strings.TrimPrefix(t.Source, dir+"/"), Files: toolFS{files}, Entry: t.Entry, Params: t.Params(), Domain: c.domain(), Operations: c.h.table}
	if src.Code, err = readSource(src.Files, src.Path, c.h.limits.SourceBytes); err != nil {
		return engine.Source{}, err
	}
	if t.Dir == "" {
		src.Files = nil
	}
	return src, nil
}

// domain returns the isolation domain of the host's tools. The domain depends on the tenants,
// because apps of different tenants can have the same id. The domain does not depend on the order
// of the tenants in Options. If the host is opened again, the domain is the same.
func (c *compiler) domain() string {
	tenants := slices.Compact(slices.Sorted(slices.Values(c.h.tenants)))
	return fmt.Sprintf("%q of %q", c.h.app.ID, tenants)
}

func readSource(files fs.FS, name string, maximum int) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err == nil && info.Size() > int64(maximum) {
		return nil, abi.Faultf(abi.SourceInvalid, "%s is larger than %s", name, bytesize.Format(int64(maximum)))
	}
	var code []byte
	if err == nil {
		code, err = fs.ReadFile(files, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, abi.Faultf(abi.SourceInvalid, "%s does not exist", name)
	}
	if err != nil {
		return nil, abi.Faultf(abi.SourceInvalid, "cannot read %s", name)
	}
	return code, nil
}
