package approval

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// Claim is the right to execute an approved run. At most one Claim of a request is valid at a time.
type Claim struct {
	Token     string
	execution int // the number of the execution that the Claim belongs to
}

// Check returns a fault if the Claim is no longer valid. The argument is the current record of the
// request.
func (c Claim) Check(now storage.Record) error {
	if !now.Exists() {
		return errDecided
	}
	s, err := parse(now)
	if err != nil {
		return err
	}
	return c.check(s)
}

// errDecided is the fault of a run whose Claim is no longer valid.
var errDecided = abi.Faultf(abi.Conflict, "the approval was decided again during the run; nothing was stored")

// check returns a fault if the Claim is no longer valid. The argument is the stored request. A
// Claim whose lease has ended stays valid until another execution begins.
func (c Claim) check(s stored) error {
	if s.State == Approved && !s.Leased.IsZero() && s.Execution == c.execution {
		return nil
	}
	return errDecided
}

// Keep renews the lease of a Claim until ctx ends, so that no other execution of its run begins in the
// meantime. If the Claim is no longer valid, Keep returns the fault. If the request no longer exists or
// its time has ended, Keep returns nil. If the backend fails, Keep tries again.
func (a *Approvals) Keep(ctx context.Context, c partition.Caller, claim Claim) error {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		goesOn, err := a.renew(ctx, c, claim)
		switch {
		case errors.Is(err, abi.Conflict):
			return err
		case errors.Is(err, abi.NotFound), err == nil && !goesOn:
			return nil
		}
	}
}

// renew renews the lease of a Claim once. If the time of the request has ended, the lease must not
// be renewed, and the result is false, so that a run that hangs does not keep its request for ever.
func (a *Approvals) renew(ctx context.Context, c partition.Caller, claim Claim) (goesOn bool, err error) {
	err = a.swap(ctx, c, claim.Token, func(s stored) (stored, error) {
		now := a.db.Now()
		if goesOn = now.Before(s.Expires); goesOn {
			s.Leased = now.Add(lease)
		}
		return s, claim.check(s)
	})
	return goesOn, err
}
