package memory

import (
	"context"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// MayAddFile reports why AddFile would refuse a file for the caller's session: one that is not the caller's, has ended, or
// has as many files as it may. A session that is not there is one that AddFile begins. It is for who has work to do before
// the file is there; AddFile looks again.
func (s *Service) MayAddFile(ctx context.Context, c Caller) error {
	if err := s.checkUpload(c, Upload{ID: "file"}); err != nil {
		return err
	}
	records, err := s.backend.Get(ctx, s.sessionKey(c))
	if err != nil {
		return s.hostFault("read a session", err)
	}
	state, err := decodeSession(records[0])
	if err != nil {
		return s.hostFault("read a session", err)
	}
	now := s.now()
	if err := s.checkSession(records[0], state, c, now); err != nil {
		return err
	}
	_, err = roomForFile(state.Files, now)
	return err
}

// roomForFile returns the living files of a session that may have one more.
func roomForFile(files []Artifact, now time.Time) ([]Artifact, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(f Artifact) bool { return !now.Before(f.Expires) })
	if len(files) >= MaxFiles {
		return nil, abi.Faultf(abi.QuotaExceeded, "a session may have %d files", MaxFiles).WithHint("start another session")
	}
	return files, nil
}

// FileBytes returns how large the content of a file of the tenant's is, without reading it.
func (s *Service) FileBytes(ctx context.Context, tenant, id string) (int64, error) {
	c := Caller{Tenant: tenant}
	if err := c.check(); err != nil {
		return 0, err
	}
	if err := checkID("file", id); err != nil || id == "" {
		return 0, noFile()
	}
	key := s.fileKey(systemFile, c, id)
	heads, err := s.backend.Heads(ctx, key, "", 1)
	if err != nil {
		return 0, s.hostFault("read a file", err)
	}
	if len(heads) == 0 || heads[0].Key != key || heads[0].Expired(s.now()) {
		return 0, noFile()
	}
	return heads[0].ContentBytes, nil
}
