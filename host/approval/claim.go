package approval

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// A Claim is the right to execute an approved run. A request can have several Claims, but at most
// one of them is valid at a time.
type Claim struct {
	Token     string
	execution int // the number of the execution for which the Claim was made
}

// Check returns a fault if the Claim has become invalid. The argument is the current record of the
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

// errDecided is the fault of a run that no longer has a valid Claim.
var errDecided = abi.Faultf(abi.Conflict, "another request decided the approval during the run; nothing was stored")

// check returns a fault if the Claim has become invalid. The argument is the request that is
// currently stored. After the lease of a Claim has ended, the Claim remains valid until another
// execution begins.
func (c Claim) check(s stored) error {
	if s.State == Approved && !s.Leased.IsZero() && s.Execution == c.execution {
		return nil
	}
	return errDecided
}

// Keep renews the lease of a Claim until the argument ctx ends. While the lease is renewed, no
// other execution of the run can begin. If the Claim has become invalid, Keep returns the fault. If
// the request does not exist any longer, or if it has expired, Keep returns nil. If the backend
// fails, Keep tries again later.
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

// renew renews the lease of a Claim once. If the request has expired, the lease is not renewed, and
// the result is false. Otherwise, a run that hangs would keep its request forever.
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
