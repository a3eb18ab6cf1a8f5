package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
)

// notifying is a response writer that closes the channel "began" after the first write.
type notifying struct {
	*httptest.ResponseRecorder
	began chan struct{}
	once  atomic.Bool
}

func (n *notifying) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "waiting") && n.once.CompareAndSwap(false, true) {
		close(n.began)
	}
	return n.ResponseRecorder.Write(b)
}

// If the credentials of a stream expire or are revoked, the stream ends soon, and the run of the
// stream stores nothing.
func TestStreamsEndWithTheirCredentials(t *testing.T) {
	for _, name := range []string{"revoked", "expired"} {
		t.Run(name, func(t *testing.T) {
			keys, err := auth.CreateKeys(filepath.Join(t.TempDir(), "keys.json"))
			if err != nil {
				t.Fatal(err)
			}
			grant := auth.Grant{Name: "backend", Role: auth.Runtime, Tenant: "acme", Expires: time.Now().Add(time.Hour)}
			secret, key, err := keys.Create(grant)
			if err != nil {
				t.Fatal(err)
			}
			var ahead atomic.Int64
			authenticator := &auth.Authenticator{Keys: keys, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
			s := newService(t, func(o *httpapi.Options) {
				fallback := o.Authenticate
				o.Recheck = 10 * time.Millisecond
				o.Authenticate = func(r *http.Request) (auth.Principal, error) {
					if strings.HasSuffix(r.Header.Get("Authorization"), secret) {
						return authenticator.Authenticate(r)
					}
					return fallback(r)
				}
			})
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/runs/stream", strings.NewReader(`{"tool":"wait","user_id":"ann","timeout_ms":170000}`))
			r.Header.Set("Authorization", "Bearer "+secret)
			r.Header.Set("Content-Type", "application/json")
			w := &notifying{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{})}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				s.api.ServeHTTP(w, r)
			}()
			<-w.began
			if name == "expired" {
				ahead.Store(int64(2 * time.Hour))
			} else if err := keys.Revoke(key.ID); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
			case <-time.After(60 * time.Second): // less than the time limit of the run
				t.Fatal("the stream continues")
			}
			if body := w.Body.String(); !strings.Contains(body, "event: problem") || !strings.Contains(body, `"status":401`) {
				t.Errorf("the stream ends with %s; want a problem, 401", body)
			}
			s.want(404, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", "")
		})
	}
}
