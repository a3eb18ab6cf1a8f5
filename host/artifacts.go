package host

import (
	"context"

	"github.com/toolrun/toolrun/host/artifact"
)

// Artifacts is the files that are uploaded to the sessions of a Host's app. It is safe for concurrent use.
type Artifacts struct{ h *Host }

// Artifacts returns the files of the app's sessions.
func (h *Host) Artifacts() Artifacts { return Artifacts{h} }

// kept returns the files that are stored.
func (a Artifacts) kept() *artifact.Artifacts { return a.h.memory.Artifacts() }

// Add keeps a file for the caller's session, which it starts if it has not begun. The host gives the file its id.
func (a Artifacts) Add(ctx context.Context, caller Caller, up artifact.Upload) (artifact.Artifact, error) {
	id, err := a.h.newID("file")
	if err != nil {
		return artifact.Artifact{}, err
	}
	up.ID = id
	return a.kept().Add(ctx, caller.as(id), up)
}

// MayAdd returns why Add would refuse a file of so many bytes for the caller's session, nil if it would not.
func (a Artifacts) MayAdd(ctx context.Context, caller Caller, bytes int) error {
	return a.kept().CheckAdd(ctx, caller.as(""), bytes)
}

// List returns the files of the caller's session.
func (a Artifacts) List(ctx context.Context, caller Caller) ([]artifact.Artifact, error) {
	return a.kept().List(ctx, caller.as(""))
}

// SetActive sets whether tools and prompts see the text of a file of the caller's session.
func (a Artifacts) SetActive(ctx context.Context, caller Caller, id string, active bool) (artifact.Artifact, error) {
	return a.kept().SetActive(ctx, caller.as(""), id, active)
}

// Remove removes a file of the caller's session, and returns its description.
func (a Artifacts) Remove(ctx context.Context, caller Caller, id string) (artifact.Artifact, error) {
	return a.kept().Remove(ctx, caller.as(""), id)
}

// Content returns the content of a file of the caller's tenant, whichever user or session it belongs to: check the right to
// read it before.
func (a Artifacts) Content(ctx context.Context, caller Caller, id string) ([]byte, error) {
	return a.kept().Content(ctx, caller.as("").Tenant, id)
}

// Piece returns a part of the content of a file of the caller's tenant, from an offset on: up to 256 KiB, and less only at
// the end; see Content. It fails with abi.NotFound if there is no such file, or none any more.
func (a Artifacts) Piece(ctx context.Context, caller Caller, id string, offset int64) ([]byte, error) {
	return a.kept().Piece(ctx, caller.as("").Tenant, id, offset)
}

// Size returns the size of the content of a file of the caller's tenant in bytes, without reading it; see Content.
func (a Artifacts) Size(ctx context.Context, caller Caller, id string) (int64, error) {
	return a.kept().Size(ctx, caller.as("").Tenant, id)
}
