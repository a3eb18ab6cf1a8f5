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

// starter makes the instances of one plug-in: from a snapshot of an initialised one where that is the same for every
// run, from an image of the data alone where it is not, and from nothing where the module has state that an image
// does not hold.
type starter struct {
	plugin *plugin

	turn  chan struct{}   // holds an element while somebody has what follows
	image *snapshot.Image // made by the first run
	ready bool            // the image is of an initialised instance
	tried bool
}

func newStarter(p *plugin) *starter { return &starter{plugin: p, turn: make(chan struct{}, 1)} }

// instance returns a fresh instance that was initialised; done gives it back.
func (s *starter) instance(ctx context.Context, r *run) (guest api.Module, done func(), err error) {
	if m := s.plugin.shown.Memory; m != nil && uint64(m.Min)<<16 > uint64(r.limits.MemoryBytes) {
		return nil, nil, r.end(r.outOfMemory())
	}
	image, ready, err := s.prepare(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if image == nil {
		return s.fromNothing(ctx, r)
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

// failure is what a run ends with that got no instance.
func (s *starter) failure(ctx context.Context, r *run, err error) error {
	if errors.Is(err, snapshot.ErrMemory) {
		return r.end(r.outOfMemory())
	}
	if ctx.Err() != nil {
		return r.end(engine.EndOf(ctx))
	}
	return err
}

// end makes a fault that did not come from the guest the end of the run.
func (r *run) end(err error) error {
	if r.halted == nil {
		r.halted = err
	}
	return err
}

// prepare makes the image at the first run, which is what an instance then starts from; nil where there is none.
func (s *starter) prepare(ctx context.Context, r *run) (image *snapshot.Image, ready bool, err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, false, r.end(engine.EndOf(ctx))
	}
	if !s.plugin.machine.IsRestorable() || s.tried {
		return s.image, s.ready, nil
	}
	base, err := s.plugin.machine.Image(snapshot.Options{MemoryBytes: uint64(r.limits.MemoryBytes)})
	if err != nil {
		return nil, false, s.failure(ctx, r, err)
	}
	taken, err := s.take(ctx, base, r)
	if err != nil && ctx.Err() != nil {
		_ = base.Close(context.WithoutCancel(ctx))
		return nil, false, r.end(engine.EndOf(ctx))
	}
	s.tried = true
	if err != nil { // it varies, or fails: each run initialises its own, and hears of the failure
		s.image = base
		return s.image, false, nil
	}
	s.image, s.ready = taken, true
	return s.image, true, base.Close(ctx)
}

// take initialises an instance that belongs to no run.
func (s *starter) take(ctx context.Context, base *snapshot.Image, r *run) (*snapshot.Image, error) {
	witness := &snapshot.NondeterminismProbe{Monotonic: machine.Nanotime}
	nobody, err := newRun(r.ctx, engine.Input{Limits: r.limits}, engine.Host{}, s.plugin.table, machine.Sources{
		Walltime: witness.Walltime, Nanotime: witness.Nanotime, Random: witness,
	})
	if err != nil {
		return nil, err
	}
	nobody.memory = &linearMemory{}
	return snapshot.CaptureInitialized(nobody.with(ctx), base, witness)
}

// fromNothing makes an instance as wazero does.
func (s *starter) fromNothing(ctx context.Context, r *run) (api.Module, func(), error) {
	allocated := experimental.WithMemoryAllocator(ctx, r.memory)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions(initialise)
	guest, err := s.plugin.machine.Instantiate(allocated, config)
	if err != nil {
		r.refused = r.memory.refused
		return nil, nil, err
	}
	return guest, func() { _ = guest.Close(context.WithoutCancel(ctx)) }, nil
}

// close is called when no run is under way.
func (s *starter) close() error {
	if s.image == nil {
		return nil
	}
	return s.image.Close(context.Background())
}

// Prepare opens what starting plug-ins from snapshots takes from the system. A process calls it before it gives up the
// right to open files; without it, starts take longer there.
func Prepare() { snapshot.Prepare() }
