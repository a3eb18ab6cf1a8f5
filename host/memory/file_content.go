package memory

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// The content of a file is cut into pieces, besides a record that has its size, each a record: a backend reads and writes records whole, and some write
// the neighbours of a record with it. A commit stores a few of them, so that others' commits do not wait for long.
const (
	pieceBytes       = 256 << 10
	piecesOfOneWrite = 4
)

// pieceKey is where the n-th piece of a file lies. Pieces are in the order of their keys.
func (s *Service) pieceKey(c Caller, id string, n int) storage.Key {
	return s.fileKey(systemFile, c, id).With(storage.Part{Tag: storage.Item, Value: fmt.Sprintf("%04d", n)})
}

// uploadKey is where the mark lies that a file is being stored. It goes when the session lists the file; one that is
// left tells a sweep that the host died in between.
func (s *Service) uploadKey(c Caller, id string) storage.Key { return s.fileKey(systemUpload, c, id) }

// sweepUploads removes what is stored of files that were not listed for an hour.
func (s *Service) sweepUploads(ctx context.Context, c Caller, at time.Time) error {
	return s.scanHeads(ctx, s.system(systemUpload, c), func(marks []storage.Head) error {
		for _, mark := range marks {
			if mark.Updated.After(at) {
				continue
			}
			if _, err := s.dropFile(ctx, c, mark.Key.Part(storage.Item), func(storage.Head) {}); err != nil {
				return err
			}
		}
		return nil
	})
}

// storeContent stores the content and the text of a file.
func (s *Service) storeContent(ctx context.Context, c Caller, file Artifact, up Upload) error {
	record := func(key storage.Key, content []byte) storage.Write {
		return storage.Write{Record: storage.Record{
			Key: key, Content: content, Revision: 1, Created: file.Uploaded, Updated: file.Uploaded, Expires: file.Expires,
			Tags: tags(key, c, ""), Run: c.Run,
		}}
	}
	size := record(s.fileKey(systemFile, c, up.ID), strconv.AppendInt(nil, file.Bytes, 10))
	mark := record(s.uploadKey(c, up.ID), []byte("{}"))
	mark.Record.Expires = time.Time{} // until the sweep looks at it
	writes := []storage.Write{mark, size}
	if up.Text != nil {
		writes = append(writes, record(s.fileKey(systemFileText, c, up.ID), []byte(CutText(*up.Text, maxTextBytes))))
	}
	for n, rest := 0, up.Content; n == 0 || len(rest) > 0; n++ {
		size := min(len(rest), pieceBytes)
		writes = append(writes, record(s.pieceKey(c, up.ID, n), rest[:size]))
		if rest = rest[size:]; len(rest) > 0 && len(writes) < piecesOfOneWrite {
			continue
		}
		if err := s.storePieces(ctx, c, up, writes); err != nil {
			return err
		}
		writes = nil
	}
	return nil
}

// storePieces stores a part of a file, unless the user was erased since the upload began.
func (s *Service) storePieces(ctx context.Context, c Caller, up Upload, writes []storage.Write) error {
	var keys []storage.Key
	if c.User != "" {
		keys = append(keys, s.erasedKey(c))
	}
	return s.update(ctx, c, keys, func(now []storage.Record) ([]storage.Write, error) {
		if len(now) > 0 && erasedDuring(now[0], up.Began) {
			return nil, errErasedMeanwhile
		}
		return writes, nil
	})
}

// isManifest reports whether a key is of the record that has the size of a file, and not of a piece.
func isManifest(key storage.Key) bool {
	parts, _ := key.Parts()
	items := 0
	for _, p := range parts {
		if p.Tag == storage.Item {
			items++
		}
	}
	return items == 1
}

// dropFile removes what is stored of a file, and calls count with each record.
func (s *Service) dropFile(ctx context.Context, c Caller, id string, count func(storage.Head)) (int, error) {
	n, err := s.drop(ctx, storage.Selector{Prefix: s.fileKey(systemFile, c, id)}, count)
	if err != nil {
		return n, err
	}
	keys := []storage.Key{s.fileKey(systemFileText, c, id), s.uploadKey(c, id)}
	more, err := s.removeKeys(ctx, keys, count)
	return n + more, err
}

// File returns the content of a file of the tenant. The caller is responsible for access checks.
func (s *Service) File(ctx context.Context, tenant, id string) ([]byte, error) {
	bytes, err := s.FileBytes(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 0, bytes)
	for int64(len(content)) < bytes {
		piece, err := s.FileAt(ctx, tenant, id, int64(len(content)))
		if err != nil {
			return nil, err
		}
		content = append(content, piece...)
	}
	return content, nil
}

// FileBytes returns the size of a file of the tenant, without reading its content.
func (s *Service) FileBytes(ctx context.Context, tenant, id string) (int64, error) {
	c, err := fileCaller(tenant, id)
	if err != nil {
		return 0, err
	}
	records, err := s.backend.Get(ctx, s.fileKey(systemFile, c, id))
	if err != nil {
		return 0, s.hostFault("read a file", err)
	}
	if !records[0].Exists() || records[0].Expired(s.now()) {
		return 0, noFile()
	}
	bytes, err := strconv.ParseInt(string(records[0].Content), 10, 64)
	if err != nil {
		return 0, s.hostFault("read a file", fmt.Errorf("the size of a file: %w", storage.ErrCorrupt))
	}
	return bytes, nil
}

// FileAt returns a part of a file of the tenant, from an offset on: up to 256 KiB, and less at the end of the file.
func (s *Service) FileAt(ctx context.Context, tenant, id string, offset int64) ([]byte, error) {
	c, err := fileCaller(tenant, id)
	if err != nil {
		return nil, err
	}
	if offset < 0 || offset > MaxFileBytes {
		return nil, noFile()
	}
	records, err := s.backend.Get(ctx, s.pieceKey(c, id, int(offset/pieceBytes)))
	if err != nil {
		return nil, s.hostFault("read a file", err)
	}
	r, skip := records[0], offset%pieceBytes
	if !r.Exists() || r.Expired(s.now()) || skip > int64(len(r.Content)) {
		return nil, noFile()
	}
	return r.Content[skip:], nil
}

// fileCaller is the caller whose file is read, if there can be such a file.
func fileCaller(tenant, id string) (Caller, error) {
	c := Caller{Tenant: tenant}
	if err := c.check(); err != nil {
		return c, err
	}
	if err := checkID("file", id); err != nil || id == "" {
		return c, noFile()
	}
	return c, nil
}
