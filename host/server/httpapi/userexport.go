package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
)

// userExports is the maximum number of concurrent user data exports. Each tenant can run only one
// export at a time.
const userExports = 4

const archiveType = "application/zip"

// exports is the set of tenants with a user data export in progress.
type exports struct {
	mu      sync.Mutex
	tenants map[string]bool
}

var errExporting = abi.Faultf(abi.Unavailable, "another export of user data is in progress").WithHint("retry when the other export has ended")

// begin starts an export for a tenant. Call the method "end" when the export has ended.
func (x *exports) begin(tenant string) (end func(), err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tenants[tenant] || len(x.tenants) == userExports {
		return nil, errExporting
	}
	if x.tenants == nil {
		x.tenants = map[string]bool{}
	}
	x.tenants[tenant] = true
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.tenants, tenant)
	}, nil
}

// userHandler serves exports of user data.
type userHandler struct {
	access    *Access
	logger    *slog.Logger
	exporting exports
}

func (h *userHandler) register(s *Server) {
	addPlain(s, auth.Records, huma.Operation{
		OperationID: "export-user", Method: http.MethodGet, Path: "/users/{user_id}/export", Tags: []string{"records"}, Summary: "Export a user's data",
		Description: "A ZIP archive of everything that erasing the user would remove: `records.ndjson`, `sessions.ndjson`, `workflows.ndjson`, `files.ndjson`, `results.ndjson`, `approvals.ndjson` and " +
			"`ledger.ndjson`, with one JSON value per line, and the files under `files/`. Concurrent writes may be missing. A tenant can run one export at a time.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The archive. The connection is closed early if the archive cannot be completed", Content: map[string]*huma.MediaType{archiveType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}},
	}, h.export)
}

func (h *userHandler) export(ctx context.Context, in *eraseInput) (*huma.StreamResponse, error) {
	c, err := h.access.open(ctx, in.App)
	if err != nil {
		return nil, err
	}
	end, err := h.exporting.begin(c.principal.Tenant)
	if err != nil {
		c.release()
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer c.release()
		defer end()
		_, w := humago.Unwrap(hc)
		h.send(hc.Context(), w, c, in.User)
	}}, nil
}

// send sends the archive while it is being created. If the archive cannot be completed, send aborts
// the connection, so that the client can detect that the archive is incomplete.
func (h *userHandler) send(ctx context.Context, w http.ResponseWriter, c *call, user string) {
	ctx, cancel := context.WithCancel(ctx)
	from, to := io.Pipe()
	made := make(chan struct{})
	go func() {
		defer close(made)
		caller := host.Caller{Tenant: c.principal.Tenant, User: user, Actor: c.principal.Name}
		_ = to.CloseWithError(c.host.Users().Export(ctx, caller, to))
	}()
	defer func() { // the export uses the host until the export ends
		cancel()
		_ = from.Close()
		<-made
	}()
	archive := bufio.NewReader(from)
	if _, err := archive.Peek(1); err != nil { // errors before the response begins become problems
		WriteProblem(w, loggedProblem(h.logger, err))
		return
	}
	w.Header().Set("Content-Type", archiveType)
	w.Header().Set("Content-Disposition", `attachment; filename="user-data.zip"`)
	reader := fileRate.start(w)
	if _, err := reader.copy(waiting{reader, archive}); err != nil {
		if !errors.Is(err, context.Canceled) {
			h.logger.Error("an export of user data failed", "actor", c.principal.Name, "tenant", c.principal.Tenant, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// waiting is a reader that does not charge its waiting time to the client.
type waiting struct {
	fileWriter *fileWriter
	from       io.Reader
}

// Read implements io.Reader.
func (r waiting) Read(p []byte) (n int, err error) {
	r.fileWriter.wait(func() { n, err = r.from.Read(p) })
	return n, err
}
