package wasm

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// starter creates the instances of a plug-in. If the initialization has the same result in every
// run, starter restores a snapshot of an initialized instance. If the results differ, starter
// restores an image that was captured before the initialization. If an image cannot contain the
// whole state of the module, starter instantiates the module for each run.
type starter struct {
	plugin *plugin

	mutex chan struct{}   // locks the fields below; full while locked
	image *snapshot.Image // the image that the first run has created
	ready bool            // true if the image contains an initialized instance
	tried bool
}

func newStarter(p *plugin) *starter { return &starter{plugin: p, mutex: make(chan struct{}, 1)} }

// instance returns a fresh, initialized instance. The caller must call the function "done" to
// release the instance.
func (s *starter) instance(ctx context.Context, r *run) (guest api.Module, done func(), err error) {
	if m := s.plugin.module.Memory; m != nil && uint64(m.Min)<<16 > uint64(r.limits.MemoryBytes) {
		return nil, nil, r.end(r.outOfMemory())
	}
	image, ready, err := s.prepare(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if image == nil {
		return s.instantiate(ctx, r)
	}
	restored, err := image.Restore(ctx, machine.Random(r.in.Seed))
	if err != nil {
		return nil, nil, s.failure(ctx, r, err)
	}
	r.restored = restored
	done = func() { _ = restored.Close(context.WithoutCancel(ctx)) }
	if err = restored.LimitMemory(uint64(r.limits.MemoryBytes)); err == nil && !ready {
		err = restored.Initialize(ctx)
	}
	if err != nil {
		r.account(restored.Guest())
		done()
		return nil, nil, s.failure(ctx, r, err)
	}
	return restored.Guest(), done, nil
}

// failure returns the error of a run for which no instance could be created.
func (s *starter) failure(ctx context.Context, r *run, err error) error {
	if errors.Is(err, snapshot.ErrMemory) {
		return r.end(r.outOfMemory())
	}
	if ctx.Err() != nil {
		return r.end(engine.FaultFromContext(ctx))
	}
	return err
}

// end records the error with which the host stops the run. If an error is already recorded, the
// method does nothing. The method returns err.
func (r *run) end(err error) error {
	if r.halted == nil {
		r.halted = err
	}
	return err
}

// prepare creates the image during the first run. If the module cannot be restored from an image,
// the method returns nil.
func (s *starter) prepare(ctx context.Context, r *run) (image *snapshot.Image, ready bool, err error) {
	select {
	case s.mutex <- struct{}{}:
		defer func() { <-s.mutex }()
	case <-ctx.Done():
		return nil, false, r.end(engine.FaultFromContext(ctx))
	}
	if !s.plugin.machine.IsRestorable() || s.tried {
		return s.image, s.ready, nil
	}
	base, err := s.plugin.machine.Image(snapshot.Options{MemoryBytes: uint64(r.limits.MemoryBytes)})
	if err != nil {
		return nil, false, s.failure(ctx, r, err)
	}
	captured, err := s.capture(ctx, base, r)
	if err != nil && ctx.Err() != nil {
		_ = base.Close(context.WithoutCancel(ctx))
		return nil, false, r.end(engine.FaultFromContext(ctx))
	}
	s.tried = true
	if err != nil { // each run then initializes its own instance and reports the error itself
		s.image = base
		return s.image, false, nil
	}
	s.image, s.ready = captured, true
	return s.image, true, base.Close(ctx)
}

// capture initializes an instance that belongs to no run, and returns an image of the instance.
func (s *starter) capture(ctx context.Context, base *snapshot.Image, r *run) (*snapshot.Image, error) {
	probe := &snapshot.NondeterminismProbe{Monotonic: machine.Nanotime}
	detached, err := newRun(r.ctx, engine.Input{Limits: r.limits}, engine.Host{}, s.plugin.table, machine.Sources{
		Walltime: probe.Walltime, Nanotime: probe.Nanotime, Random: probe,
	})
	if err != nil {
		return nil, err
	}
	detached.memory = &linearMemory{}
	return snapshot.CaptureInitialized(detached.with(ctx), base, probe)
}

// instantiate creates an instance without an image.
func (s *starter) instantiate(ctx context.Context, r *run) (api.Module, func(), error) {
	allocated := experimental.WithMemoryAllocator(ctx, r.memory)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions(initialise)
	guest, err := s.plugin.machine.Instantiate(allocated, config)
	if err != nil {
		r.refused = r.memory.refused
		return nil, nil, err
	}
	return guest, func() { _ = guest.Close(context.WithoutCancel(ctx)) }, nil
}

// close frees the image. The caller must ensure that no run is active.
func (s *starter) close() error {
	if s.image == nil {
		return nil
	}
	return s.image.Close(context.Background())
}

// Prepare opens the files with which plug-ins are restored from snapshots. If a process drops the
// permission to open files, the process must call Prepare first. Otherwise, each start of a plug-in
// takes longer.
func Prepare() { snapshot.Prepare() }
