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
