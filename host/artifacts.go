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

// store returns the artifact store that contains the files of the app.
func (a Artifacts) store() *artifact.Artifacts { return a.h.memory.Artifacts() }

// Add stores a file in the caller's session. Add sets the id of the file. If the session does not
// exist, Add starts it.
func (a Artifacts) Add(ctx context.Context, caller Caller, up artifact.Upload) (artifact.Artifact, error) {
	id, err := a.h.newID("file")
	if err != nil {
		return artifact.Artifact{}, err
	}
	up.ID = id
	return a.store().Add(ctx, caller.as(id), up)
}

// MayAdd checks whether a file of the given size can be added to the caller's session. If Add would
// fail, MayAdd returns the error that Add would return.
func (a Artifacts) MayAdd(ctx context.Context, caller Caller, bytes int) error {
	return a.store().CheckAdd(ctx, caller.as(""), bytes)
}

// List returns the files of the caller's session.
func (a Artifacts) List(ctx context.Context, caller Caller) ([]artifact.Artifact, error) {
	return a.store().List(ctx, caller.as(""))
}

// SetActive activates or deactivates a file of the caller's session. Tools and prompts can read the
// text of a file only if the file is active.
func (a Artifacts) SetActive(ctx context.Context, caller Caller, id string, active bool) (artifact.Artifact, error) {
	return a.store().SetActive(ctx, caller.as(""), id, active)
}

// Remove removes a file of the caller's session and returns its description.
func (a Artifacts) Remove(ctx context.Context, caller Caller, id string) (artifact.Artifact, error) {
	return a.store().Remove(ctx, caller.as(""), id)
}

// Content returns the content of a file of the caller's tenant. Content does not check which user
// or session the file belongs to. The function that calls Content must check the user and the
// session.
func (a Artifacts) Content(ctx context.Context, caller Caller, id string) ([]byte, error) {
	return a.store().Content(ctx, caller.as("").Tenant, id)
}

// Piece returns a part of a file of the caller's tenant. The part begins at the given offset and
// has 256 KiB. At the end of the file, the part can be shorter. If the file does not exist, the
// error is abi.NotFound. Like Content, Piece does not check which user or session the file belongs
// to.
func (a Artifacts) Piece(ctx context.Context, caller Caller, id string, offset int64) ([]byte, error) {
	return a.store().Piece(ctx, caller.as("").Tenant, id, offset)
}

// Size returns the size, in bytes, of a file of the caller's tenant. Size does not read the file.
// Like Content, Size does not check which user or session the file belongs to.
func (a Artifacts) Size(ctx context.Context, caller Caller, id string) (int64, error) {
	return a.store().Size(ctx, caller.as("").Tenant, id)
}
