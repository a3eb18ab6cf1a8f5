package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi"
)

// backup requests a backup and returns the response. backup does not read the body of the response.
func backup(t *testing.T, s *service, who string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/api/v1/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+who)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestBackup(t *testing.T) {
	var log bytes.Buffer
	var last *testBackup
	s := newService(t, func(o *httpapi.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Backup = func(ctx context.Context) (httpapi.Backup, error) {
			b, err := newBackup(ctx)
			last = b.(*testBackup)
			return b, err
		}
	})
	for range 2 { // the second backup starts after the first one has ended
		response := backup(t, s, "backup")
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != 200 || response.ContentLength != 1<<20 || len(body) != 1<<20 {
			t.Errorf("a backup = %d, %d bytes of %d, %v", response.StatusCode, len(body), response.ContentLength, err)
		}
	}
	s.server.Close() // read after all handlers have ended
	if !last.closed {
		t.Error("a backup was sent and not closed")
	}
	if n := strings.Count(log.String(), `msg="a backup was taken" actor=nightly tenant=acme bytes=1048576`); n != 2 {
		t.Errorf("the log has %d backups; want 2:\n%s", n, &log)
	}
}

// Operators of a tenant must not receive data of other tenants.
func TestOperatorsCannotDownloadBackups(t *testing.T) {
	s := newService(t)
	for _, who := range []string{"operator", "runtime", "read-only", "ann", "one app", "elsewhere"} {
		if response := backup(t, s, who); response.StatusCode != http.StatusForbidden {
			t.Errorf("a backup as %s = %d; want 403", who, response.StatusCode)
		}
	}
}

// Only one backup can run at a time. A failed backup does not block the next backup.
func TestOneBackupAtATime(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := true
	s := newService(t, func(o *httpapi.Options) {
		o.Backup = func(context.Context) (httpapi.Backup, error) {
			if !first {
				return nil, errors.New("disk 7 is broken")
			}
			first = false
			close(begun)
			<-goOn
			return nil, abi.Faultf(abi.QuotaExceeded, "no room")
		}
	})
	done := make(chan int)
	go func() { done <- backup(t, s, "backup").StatusCode }()
	<-begun
	if response := backup(t, s, "backup"); response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("a second backup = %d; want 503", response.StatusCode)
	}
	close(goOn)
	if status := <-done; status != http.StatusInsufficientStorage {
		t.Errorf("a backup without disk space = %d; want 507", status)
	}
	response := backup(t, s, "backup")
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusInternalServerError || bytes.Contains(body, []byte("disk 7")) {
		t.Errorf("a backup that fails = %d %s; want 500 without the reason", response.StatusCode, body)
	}
}

// short is a backup whose content is shorter than the result of Size.
type short struct{ testBackup }

// A client must detect that a backup is incomplete.
func TestIncompleteBackup(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) {
		o.Backup = func(context.Context) (httpapi.Backup, error) {
			return &short{testBackup{Reader: strings.NewReader("half of it")}}, nil
		}
	})
	if _, err := io.ReadAll(backup(t, s, "backup").Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an incomplete backup = %v; want %v", err, io.ErrUnexpectedEOF)
	}
}
