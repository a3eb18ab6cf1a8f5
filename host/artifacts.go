package host

import (
	"context"

	"github.com/toolrun/toolrun/host/artifact"
)

// Artifacts is a handle for the files that were uploaded to the sessions of an app. Artifacts is
// safe for concurrent use.
type Artifacts struct{ h *Host }

// Artifacts returns a handle for the uploaded files of the app's sessions.
func (h *Host) Artifacts() Artifacts { return Artifacts{h} }

// store returns the artifact store with the files of the app.
func (a Artifacts) store() *artifact.Artifacts { return a.h.memory.Artifacts() }

// Add stores a file in the caller's session and sets the file's id. If the session does not exist,
// Add starts it.
func (a Artifacts) Add(ctx context.Context, caller Caller, up artifact.Upload) (artifact.Artifact, error) {
	id, err := a.h.newID("file")
	if err != nil {
		return artifact.Artifact{}, err
	}
	up.ID = id
	return a.store().Add(ctx, caller.as(id), up)
}

// MayAdd returns the error that Add would return for a file of that size in the caller's session,
// or nil.
func (a Artifacts) MayAdd(ctx context.Context, caller Caller, bytes int) error {
	return a.store().CheckAdd(ctx, caller.as(""), bytes)
}

// List returns the files of the caller's session.
func (a Artifacts) List(ctx context.Context, caller Caller) ([]artifact.Artifact, error) {
	return a.store().List(ctx, caller.as(""))
}

// SetActive sets whether tools and prompts can read the text of a file of the caller's session.
func (a Artifacts) SetActive(ctx context.Context, caller Caller, id string, active bool) (artifact.Artifact, error) {
	return a.store().SetActive(ctx, caller.as(""), id, active)
}

// Remove removes a file of the caller's session and returns its description.
func (a Artifacts) Remove(ctx context.Context, caller Caller, id string) (artifact.Artifact, error) {
	return a.store().Remove(ctx, caller.as(""), id)
}

// Content returns the content of a file of the caller's tenant. Content does not check the user and
// the session of the file: callers of Content must check them.
func (a Artifacts) Content(ctx context.Context, caller Caller, id string) ([]byte, error) {
	return a.store().Content(ctx, caller.as("").Tenant, id)
}

// Piece returns 256 KiB of the content of a file of the caller's tenant, starting at an offset.
// Piece returns fewer bytes only at the end of the file. The error is abi.NotFound if the file does
// not exist. Like Content, Piece does not check the user and the session of the file.
func (a Artifacts) Piece(ctx context.Context, caller Caller, id string, offset int64) ([]byte, error) {
	return a.store().Piece(ctx, caller.as("").Tenant, id, offset)
}

// Size returns the size of a file of the caller's tenant in bytes, without reading the file. Like
// Content, Size does not check the user and the session of the file.
func (a Artifacts) Size(ctx context.Context, caller Caller, id string) (int64, error) {
	return a.store().Size(ctx, caller.as("").Tenant, id)
}
