package tenants

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
)

// sleeperApps is the maximum number of apps that one pass examines. An app counts once for each
// tenant. The next pass continues after the examined apps.
const sleeperApps = 1000

// sleeper begins the runs of sleep-time memory that are due, even for tenants without an open host.
type sleeper struct {
	apps *Apps

	passing sync.Mutex  // serializes passes
	after   storage.Key // the next pass continues after this key
	mu      sync.Mutex
	places  *places // guarded by mu
	done    sync.WaitGroup
}

// run begins due runs periodically until the channel "stop" is closed. Then, the method waits until
// the runs that it has begun have ended.
func (s *sleeper) run(stop <-chan struct{}) {
	every := s.apps.options.SleepEvery
	if every < 0 || s.apps.options.Host.Backend == nil {
		return
	}
	setDefault(&every, 5*time.Second)
	ctx, cancel := context.WithCancel(context.Background())
	defer s.done.Wait()
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := s.pass(ctx); err != nil && ctx.Err() == nil {
				s.apps.logger.Error("cannot begin runs of sleep-time memory", "error", err)
			}
		case <-stop:
			return
		}
	}
}

// RunDue begins runs of sleep-time memory that are due, for the apps of all tenants, and waits
// until these runs have ended. One call begins the runs of a limited number of apps. Due runs also
// begin periodically in the background.
func (a *Apps) RunDue(ctx context.Context) error {
	err := a.sleeper.pass(ctx)
	a.sleeper.done.Wait()
	return err
}

// pass begins the due runs of a limited number of apps, and does not wait for the end of these
// runs. If the previous runs of an app are still in progress, pass skips the app. Therefore, a slow
// app does not delay other apps.
func (s *sleeper) pass(ctx context.Context) error {
	if !s.sleeps() {
		return nil
	}
	s.passing.Lock()
	defer s.passing.Unlock()
	now := storage.ClockOf(s.apps.options.Host.Backend)
	if s.apps.options.Host.Now != nil {
		now = s.apps.options.Host.Now
	}
	due, next, err := memory.DueApps(ctx, s.apps.options.Host.Backend, now(), s.after, sleeperApps)
	if err != nil {
		return err
	}
	s.after = next
	for _, at := range s.enter(due) {
		s.done.Go(func() {
			defer s.leave(at)
			s.runDue(ctx, at)
		})
	}
	return nil
}

// enter selects the apps whose runs begin now.
func (s *sleeper) enter(due []memory.DueApp) []hostKey {
	var waiting []hostKey
	for _, d := range due {
		if declared, ok := s.apps.App(d.App); ok && declared.Sleep != nil {
			waiting = append(waiting, hostKey{d.Tenant, d.App})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places.take(waiting)
}

// sleeps reports whether an app declares sleep-time memory.
func (s *sleeper) sleeps() bool {
	for _, declared := range s.apps.all() {
		if declared.Sleep != nil {
			return true
		}
	}
	return false
}

func (s *sleeper) leave(at hostKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places.leave(at)
}

func (s *sleeper) runDue(ctx context.Context, at hostKey) {
	h, release, err := s.apps.Host(ctx, at.tenant, at.app)
	if err == nil {
		defer release()
		_, err = h.Sleep().RunDue(ctx)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, abi.Unavailable) { // the failure is logged where it occurs
		s.apps.logger.Error("cannot run sleep-time memory", "tenant", at.tenant, "app", at.app, "error", err)
	}
}
