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

// Backup is a copy of everything that a service stores: its bytes, of which there are Size. Close frees what it takes.
type Backup interface {
	io.ReadCloser
	Size() int64
}

const backupType = "application/octet-stream"

// backupHandler answers requests for backups of the service, one at a time.
type backupHandler struct {
	copy   func(context.Context) (Backup, error) // nil if the service has no backups
	logger *slog.Logger
	taking sync.Mutex // held while a backup is taken
}

func (h *backupHandler) register(s *Server) {
	addPlain(s, auth.Backups, huma.Operation{
		OperationID: "take-backup", Method: http.MethodGet, Path: "/backup", Tags: []string{"service"}, Summary: "Download a backup",
		Description: "A copy of the database of the whole service, as it is at one moment, with the content of all tenants: a file that the service can be started with. " +
			"Nothing of what was removed or erased before is in it. One backup is taken at a time.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The database", Content: map[string]*huma.MediaType{backupType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}},
		Errors: []int{http.StatusInsufficientStorage},
	}, h.download)
}

func (h *backupHandler) download(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	if h.copy == nil {
		return nil, abi.Faultf(abi.Unavailable, "this service keeps nothing that could be backed up")
	}
	// A copy takes room on the disk, and keeps freed pages of the database from being used again while it is made.
	if !h.taking.TryLock() {
		return nil, abi.Faultf(abi.Unavailable, "another backup is being taken").WithHint("wait until it has ended")
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
			log.Error("a backup broke off", "error", err)
			return // the answer is shorter than it says, which the client notices
		}
		log.Info("a backup was taken")
	}}, nil
}
