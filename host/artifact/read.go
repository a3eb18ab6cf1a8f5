package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// Content returns the content of a file. The file must belong to the tenant. The caller of Content
// must check whether the user is allowed to access the file.
func (a *Artifacts) Content(ctx context.Context, tenant, id string) ([]byte, error) {
	bytes, err := a.Size(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 0, bytes)
	for int64(len(content)) < bytes {
		piece, err := a.Piece(ctx, tenant, id, int64(len(content)))
		if err != nil {
			return nil, err
		}
		content = append(content, piece...)
	}
	return content, nil
}

const readingFile = "read a file"

// Size returns the size of a file in bytes. Size does not read the content of the file. The file
// must belong to the tenant.
func (a *Artifacts) Size(ctx context.Context, tenant, id string) (int64, error) {
	c, err := fileCaller(tenant, id)
	if err != nil {
		return 0, err
	}
	r, err := a.db.Get(ctx, a.key(partition.File, c, id))
	if err != nil {
		return 0, a.db.Fault(readingFile, err)
	}
	if !r.Exists() || r.Expired(a.db.Now()) {
		return 0, errNotFound()
	}
	bytes, err := strconv.ParseInt(string(r.Content), 10, 64)
	if err != nil {
		return 0, a.db.Fault(readingFile, fmt.Errorf("read file size: %w", storage.ErrCorrupt))
	}
	return bytes, nil
}

// Piece returns 256 KiB of the content of a file, starting at an offset. The file must belong to
// the tenant. At the end of the file, Piece can return fewer bytes. If the file does not exist or
// has expired, the error is abi.NotFound. The caller of Piece must check whether the user is
// allowed to access the file.
func (a *Artifacts) Piece(ctx context.Context, tenant, id string, offset int64) ([]byte, error) {
	c, err := fileCaller(tenant, id)
	if err != nil {
		return nil, err
	}
	if offset < 0 || offset > MaxBytes {
		return nil, errNotFound()
	}
	r, err := a.db.Get(ctx, a.pieceKey(c, id, int(offset/pieceBytes)))
	if err != nil {
		return nil, a.db.Fault(readingFile, err)
	}
	skip := offset % pieceBytes
	if !r.Exists() || r.Expired(a.db.Now()) || skip > int64(len(r.Content)) {
		return nil, errNotFound()
	}
	return r.Content[skip:], nil
}

// fileCaller returns the caller that is used to read a file. This caller has only a tenant. If the
// tenant or the file's id is invalid, fileCaller returns an error.
func fileCaller(tenant, id string) (partition.Caller, error) {
	c := partition.Caller{Tenant: tenant}
	if err := c.Check(); err != nil {
		return c, err
	}
	if err := partition.CheckID("file", id); err != nil || id == "" {
		return c, errNotFound()
	}
	return c, nil
}

// Shown is the form that an Artifact has in sessionMeta, which guests read.
type Shown struct {
	Artifact
	DownloadURL *string `json:"downloadUrl"`
	Text        *string `json:"text,omitempty"`
}

// Show returns those files in the list of a session that have not expired. Show adds the texts of
// the active files. The total size of the added texts is limited.
func (a *Artifacts) Show(ctx context.Context, c partition.Caller, list json.RawMessage, at time.Time) ([]Shown, error) {
	files, err := Live(list, at)
	if err != nil {
		return nil, err
	}
	all, left := []Shown{}, maxTexts
	for _, file := range files {
		shown := Shown{Artifact: file}
		if a.url != nil {
			if url := a.url(c.Tenant, file); url != "" {
				shown.DownloadURL = &url
			}
		}
		if file.Active && file.HasText {
			r, err := a.db.Get(ctx, a.key(partition.FileText, c, file.ID))
			if err != nil {
				return nil, err
			}
			text := string(r.Content) // "" if the text is no longer stored
			if len(text) > left {
				text, shown.Truncated = CutText(text, left), true
			}
			left -= len(text)
			shown.Text = &text
		}
		all = append(all, shown)
	}
	return all, nil
}
