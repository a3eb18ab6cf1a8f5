package host

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// Export writes a ZIP archive to w. The archive contains all data that the caller's user has in the
// caller's tenant. The exported data is the data that Erase would remove, without expired data. The
// files records.ndjson, sessions.ndjson, workflows.ndjson, files.ndjson, results.ndjson,
// approvals.ndjson and ledger.ndjson contain one JSON value per line. The file
// files/<file_id>/<filename> contains the content of an uploaded file. Export reads data in chunks
// of bounded size, not from one snapshot. If Export returns an error, the data written so far is
// not a valid archive.
func (u Users) Export(ctx context.Context, caller Caller, w io.Writer) error {
	id, err := u.h.newID("export")
	if err != nil {
		return err
	}
	u.h.ledger.flush() // pending entries can belong to this user
	x := userExport{h: u.h, caller: caller.as(id), zip: zip.NewWriter(w)}
	if x.data, err = u.h.memory.UserData(ctx, x.caller); err != nil {
		return err
	}
	err = x.write(ctx)
	u.h.ledger.recordAct(caller, id, actExportUser, report.Effects{}, err)
	return err
}

// userExport is the state of an export of one user's data.
type userExport struct {
	h      *Host
	caller partition.Caller
	data   *memory.UserData
	zip    *zip.Writer
}

// exportedFile is the description of an uploaded file. The JSON names of exportedFile match the
// names in the rest of the export.
type exportedFile struct {
	ID         string    `json:"file_id"`
	Type       string    `json:"type"`
	Filename   string    `json:"filename"`
	MediaType  string    `json:"mimetype"`
	Bytes      int64     `json:"size"`
	SHA256     string    `json:"sha256"`
	Active     bool      `json:"is_active"`
	Uploaded   time.Time `json:"uploaded_at"`
	Expires    time.Time `json:"expires_at"`
	HasText    bool      `json:"has_text"`
	Truncated  bool      `json:"text_truncated,omitempty"`
	TextReason string    `json:"text_reason,omitempty"`
}

func (x *userExport) write(ctx context.Context) error {
	for _, part := range []struct {
		name  string
		lines func(context.Context, func(any) error) error
	}{
		{"records.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Records(ctx, func(r memory.UserRecord) error { return line(r) })
		}},
		{"sessions.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Sessions(ctx, func(s session.Session) error { return line(s) })
		}},
		{"workflows.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Workflows(ctx, func(w session.Workflow) error { return line(w) })
		}},
		{"files.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Files(ctx, func(session string, a artifact.Artifact) error {
				return line(struct {
					Session string `json:"session_id"`
					exportedFile
				}{session, exportedFile(a)})
			})
		}},
		{"results.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Results(ctx, func(key string, result json.RawMessage) error {
				return line(struct {
					Key    string          `json:"idempotency_key"`
					Result json.RawMessage `json:"result"`
				}{key, result})
			})
		}},
		{"approvals.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Approvals(ctx, func(a approval.Approval, run []byte) error { return exportApproval(line, a, run) })
		}},
		{"ledger.ndjson", func(ctx context.Context, line func(any) error) error {
			return x.data.Entries(ctx, func(e ledger.Entry) error { return line(e) })
		}},
	} {
		to, err := x.zip.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate, Modified: x.h.now()})
		if err != nil {
			return err
		}
		encode := json.NewEncoder(to)
		encode.SetEscapeHTML(false)
		if err := part.lines(ctx, encode.Encode); err != nil {
			return err
		}
		if err := x.zip.Flush(); err != nil {
			return err
		}
	}
	if err := x.data.Files(ctx, func(_ string, a artifact.Artifact) error { return x.file(ctx, a) }); err != nil {
		return err
	}
	return x.zip.Close()
}

// exportApproval writes a request for approval and the data of the request's paused run. The
// environment of the run belongs to the operator, so it is omitted.
func exportApproval(line func(any) error, a approval.Approval, run []byte) error {
	var paused pausedRun
	if run != nil {
		if err := json.Unmarshal(run, &paused); err != nil {
			return fmt.Errorf("paused run: %w: %w", storage.ErrCorrupt, err)
		}
	}
	inv := paused.Invocation
	return line(struct {
		approval.Approval
		Input    json.RawMessage `json:"input,omitempty"`
		Context  json.RawMessage `json:"context,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}{a, inv.Input, inv.Context, inv.Metadata})
}

// file writes the content of an uploaded file. If the file was deleted in the meantime, file skips
// it.
func (x *userExport) file(ctx context.Context, a artifact.Artifact) error {
	piece, err := x.h.memory.Artifacts().Piece(ctx, x.caller.Tenant, a.ID, 0)
	if errors.Is(err, abi.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	to, err := x.zip.CreateHeader(&zip.FileHeader{Name: "files/" + a.ID + "/" + a.Filename, Method: zip.Store, Modified: a.Uploaded})
	if err != nil {
		return err
	}
	for sent := int64(0); ; {
		if _, err := to.Write(piece); err != nil {
			return err
		}
		if sent += int64(len(piece)); sent >= a.Bytes || len(piece) == 0 {
			return nil
		}
		if piece, err = x.h.memory.Artifacts().Piece(ctx, x.caller.Tenant, a.ID, sent); err != nil {
			return err
		}
	}
}
