package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/toolrun/toolrun/host/server/auth"
)

const (
	// defaultRecheck is how often the credentials of an open stream are looked at again.
	defaultRecheck = 5 * time.Second
	// mostUnknown is how long a stream goes on while it is unknown whether its credentials are good.
	maxUnknown = time.Minute
)

// WhileGood returns a context that ends with ctx, and when the credentials of a request that was admitted are good no
// longer: they expired, were revoked, or are for something else now. Its cause is an auth.Refusal then. It is for
// answers that go on: credentials are looked at once before an answer begins, and every Options.Recheck from then on.
func (a *Access) WithValidCredentials(ctx context.Context, r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	before, _ := a.authenticate(r)
	go func() {
		tick := time.NewTicker(a.recheck)
		defer tick.Stop()
		for unknown := time.Duration(0); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, err := a.authenticate(r)
			switch refused, ok := errors.AsType[auth.AuthError](err); {
			case ok:
				cancel(refused)
			case err != nil: // the issuer does not answer
				if unknown += a.recheck; unknown >= maxUnknown {
					cancel(auth.Invalid)
				}
			case !reflect.DeepEqual(now, before):
				cancel(auth.Invalid)
			default:
				unknown = 0
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// refusedMeanwhile is why a context of WhileGood ended, if its credentials are good no longer; nil otherwise.
func revokedError(ctx context.Context) error {
	if refused, ok := errors.AsType[auth.AuthError](context.Cause(ctx)); ok {
		return authProblem(refused)
	}
	return nil
}
