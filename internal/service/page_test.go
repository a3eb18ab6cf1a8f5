package service_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/service"
)

// The page is rendered only once, because it requires no key.
func TestPageIsMadeOnce(t *testing.T) {
	watch, err := telemetry.New(telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Shutdown(t.Context())
	served := tenants.New(tenants.Options{Host: host.Options{Backend: mem.New()}})
	defer served.Close()
	s, err := service.New(service.Options{Apps: served, Telemetry: watch, Authenticate: func(*http.Request) (auth.Principal, error) {
		return auth.Principal{}, auth.NoCredentials
	}})
	if err != nil {
		t.Fatal(err)
	}
	var answer *httptest.ResponseRecorder
	allocations := testing.AllocsPerRun(10, func() {
		answer = httptest.NewRecorder()
		s.ServeHTTP(answer, httptest.NewRequest("GET", "/docs", nil))
	})
	if answer.Code != 200 || !strings.Contains(answer.Body.String(), "/api/v1/runs") {
		t.Errorf("GET /docs = %d %.80s", answer.Code, answer.Body)
	}
	if allocations > 500 {
		t.Errorf("GET /docs allocates %v times: it is rendered again", allocations)
	}
}
