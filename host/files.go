package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolrun/toolrun/host/memory"
)

// AddFile keeps a file for the caller's session, which begins where it has not. The host gives it its id.
func (h *Host) AddFile(ctx context.Context, caller Caller, up memory.Upload) (memory.Artifact, error) {
	id, err := h.newID("file")
	if err != nil {
		return memory.Artifact{}, err
	}
	sum := sha256.Sum256(up.Content)
	up.ID, up.SHA256 = id, hex.EncodeToString(sum[:])
	return h.memory.AddFile(ctx, h.caller(caller, id), up)
}

// MayAddFile reports why AddFile would refuse a file of so many bytes for the caller's session, before there is one.
func (h *Host) MayAddFile(ctx context.Context, caller Caller, bytes int) error {
	return h.memory.MayAddFile(ctx, h.caller(caller, ""), bytes)
}

// Files returns the files of the caller's session.
func (h *Host) Files(ctx context.Context, caller Caller) ([]memory.Artifact, error) {
	return h.memory.Files(ctx, h.caller(caller, ""))
}

// SetFileActive says whether tools and prompts see the text of a file of the caller's session.
func (h *Host) SetFileActive(ctx context.Context, caller Caller, id string, active bool) (memory.Artifact, error) {
	return h.memory.SetFileActive(ctx, h.caller(caller, ""), id, active)
}

// RemoveFile removes a file of the caller's session, and returns what it was.
func (h *Host) RemoveFile(ctx context.Context, caller Caller, id string) (memory.Artifact, error) {
	return h.memory.RemoveFile(ctx, h.caller(caller, ""), id)
}

// File returns the content of a file of the caller's tenant, whoever's it is: whoever asks was found to have the right to.
func (h *Host) File(ctx context.Context, caller Caller, id string) ([]byte, error) {
	return h.memory.File(ctx, h.caller(caller, "").Tenant, id)
}

// FileAt returns a part of the content of a file of the caller's tenant, from an offset on: up to 256 KiB, and less only at
// the end; see File. It fails with abi.NotFound if there is no such file, or none any more.
func (h *Host) FileAt(ctx context.Context, caller Caller, id string, offset int64) ([]byte, error) {
	return h.memory.FileAt(ctx, h.caller(caller, "").Tenant, id, offset)
}

// FileBytes returns how large the content of a file of the caller's tenant is, without reading it; see File.
func (h *Host) FileBytes(ctx context.Context, caller Caller, id string) (int64, error) {
	return h.memory.FileBytes(ctx, h.caller(caller, "").Tenant, id)
}
