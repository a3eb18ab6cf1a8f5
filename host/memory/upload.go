package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// MayAddFile reports why AddFile would refuse a file for the caller's session: one that is not the caller's, has ended, or
// has as many files as it may. A session that is not there is one that AddFile begins. It is for who has work to do before
// the file is there; AddFile looks again.
func (s *Service) MayAddFile(ctx context.Context, c Caller, bytes int) error {
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
	if _, err = roomForFile(state.Files, now); err != nil {
		return err
	}
	return s.hostFault("look for room", s.roomFor(ctx, c, bytes))
}

// roomFor refuses so many bytes more of a caller than the quota or the backend has room for, before they are stored
// piece by piece.
func (s *Service) roomFor(ctx context.Context, c Caller, bytes int) error {
	if full := s.noRoom(); full != nil {
		return full
	}
	check := func() error {
		records, err := s.backend.Get(ctx, s.account(c).keys...)
		if err != nil {
			return err
		}
		held, err := decodeHoldings(records)
		if err != nil {
			return err
		}
		more := storage.Usage{Bytes: int64(bytes)}
		return s.overQuota(held, holdings{app: more, user: more})
	}
	err := check()
	if errors.Is(err, abi.QuotaExceeded) && s.reclaim(ctx, c) {
		err = check()
	}
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
