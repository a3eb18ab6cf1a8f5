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
	// defaultRecheck is the default of Options.Recheck.
	defaultRecheck = 5 * time.Second
	// maxUnknown is the maximum time for which a stream continues if its credentials cannot be
	// verified.
	maxUnknown = time.Minute
)

// WithValidCredentials returns a context for long responses. The returned context ends when ctx
// ends. The returned context also ends when the credentials of an admitted request expire, change
// or are revoked. If the context ends because of the credentials, the cause of the context is an
// auth.AuthError. The credentials are verified repeatedly, at the interval Options.Recheck.
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
			case err != nil: // the token issuer does not answer
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

// revokedError returns a problem if the context of WithValidCredentials ended because the
// credentials are no longer valid. Otherwise it returns nil.
func revokedError(ctx context.Context) error {
	if refused, ok := errors.AsType[auth.AuthError](context.Cause(ctx)); ok {
		return authProblem(refused)
	}
	return nil
}
