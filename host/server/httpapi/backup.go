package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
)

// Backup is a copy of the data of the service. Size returns the length of the copy in bytes. Close
// releases its resources.
type Backup interface {
	io.ReadCloser
	Size() int64
}

const backupType = "application/octet-stream"

// backupHandler serves backups of the data of the service, one at a time.
type backupHandler struct {
	copy   func(context.Context) (Backup, error) // nil if the service has no backups
	logger *slog.Logger
	taking sync.Mutex // held during a backup
}

func (h *backupHandler) register(s *Server) {
	addPlain(s, auth.Backups, huma.Operation{
		OperationID: "take-backup", Method: http.MethodGet, Path: "/backup", Tags: []string{"service"}, Summary: "Download a backup",
		Description: "Returns a consistent copy of the database of the whole service, with the content of all tenants. The service can be started with this file. " +
			"The copy does not contain data that was removed or erased before. Only one backup can run at a time.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The database", Content: map[string]*huma.MediaType{backupType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}},
		Errors: []int{http.StatusInsufficientStorage},
	}, h.download)
}

func (h *backupHandler) download(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	if h.copy == nil {
		return nil, abi.Faultf(abi.Unavailable, "this service has no database to back up")
	}
	// The handler creates only one copy at a time, because a copy uses disk space and prevents the
	// database from reusing freed pages.
	if !h.taking.TryLock() {
		return nil, abi.Faultf(abi.Unavailable, "another backup is in progress").WithHint("retry when the other backup has ended")
	}
	begin := time.Now()
	p, _ := ctx.Value(principalKey{}).(auth.Principal)
	copied, err := h.copy(ctx)
	if err != nil {
		h.taking.Unlock()
		h.logger.Error("a backup failed", "actor", p.Name, "tenant", p.Tenant, "error", err)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer h.taking.Unlock()
		defer copied.Close()
		_, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", backupType)
		w.Header().Set("Content-Disposition", `attachment; filename="toolrun-backup.db"`)
		w.Header().Set("Content-Length", strconv.FormatInt(copied.Size(), 10))
		sent, err := fileRate.start(w).copy(copied)
		log := h.logger.With("actor", p.Name, "tenant", p.Tenant, "bytes", sent, "ms", time.Since(begin).Milliseconds())
		if err != nil || sent != copied.Size() {
			log.Error("a backup was not sent completely", "error", err)
			return // the client notices that the response is shorter than its Content-Length
		}
		log.Info("a backup was taken")
	}}, nil
}
