package artifact

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// The content of a file is divided into pieces. There is one record for each piece, and one record
// for the size of the content. Backends read and write whole records, and some backends also
// rewrite adjacent records. Therefore, small records are better than large records. Each commit
// stores only a few pieces, so that other commits do not wait for long.
const (
	pieceBytes       = 256 << 10
	recordsPerCommit = 4
)

func errTooLarge() error {
	return abi.Faultf(abi.TooLarge, "the file exceeds %s", bytesize.Format(MaxBytes))
}

// key returns the key of one record of a file.
func (a *Artifacts) key(kind string, c partition.Caller, id string) storage.Key {
	return a.db.App.System(kind, partition.Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Item, Value: id})
}

// pieceKey returns the key of the piece with the number n of a file. The order of the keys is the
// order of the pieces.
func (a *Artifacts) pieceKey(c partition.Caller, id string, n int) storage.Key {
	return a.key(partition.File, c, id).With(storage.Part{Tag: storage.Item, Value: fmt.Sprintf("%04d", n)})
}

// uploadKey returns the key of the record that marks an unfinished upload. This mark is removed by
// the commit that adds the file to its session. If the host stops before this commit, the mark
// remains until Sweep removes the upload.
func (a *Artifacts) uploadKey(c partition.Caller, id string) storage.Key {
	return a.key(partition.Upload, c, id)
}

// IsManifest examines a key of the kind partition.File. If the key belongs to the record that
// contains the size of a file, IsManifest returns true. If the key belongs to a piece of a file,
// IsManifest returns false.
func IsManifest(key storage.Key) bool {
	parts, _ := key.Parts()
	items := 0
	for _, p := range parts {
		if p.Tag == storage.Item {
			items++
		}
	}
	return items == 1
}

// storeContent stores the content and the text of a file.
func (a *Artifacts) storeContent(ctx context.Context, c partition.Caller, file Artifact, up Upload) error {
	record := func(key storage.Key, content []byte) storage.Write {
		return storage.Write{Record: storage.Record{
			Key: key, Content: content, Revision: 1, Created: file.Uploaded, Updated: file.Uploaded, Expires: file.Expires,
			Tags: partition.Tags(key, c, partition.Lifetime{}), Run: c.Run,
		}}
	}
	size := record(a.key(partition.File, c, up.ID), strconv.AppendInt(nil, file.Bytes, 10))
	mark := record(a.uploadKey(c, up.ID), []byte("{}"))
	mark.Record.Expires = time.Time{} // the mark remains until the sweep removes this upload
	writes := []storage.Write{mark, size}
	if up.Text != nil {
		writes = append(writes, record(a.key(partition.FileText, c, up.ID), []byte(CutText(*up.Text, maxTextBytes))))
	}
	for n, rest := 0, up.Content; n == 0 || len(rest) > 0; n++ {
		size := min(len(rest), pieceBytes)
		writes = append(writes, record(a.pieceKey(c, up.ID, n), rest[:size]))
		if rest = rest[size:]; len(rest) > 0 && len(writes) < recordsPerCommit {
			continue
		}
		if err := a.storePieces(ctx, c, up, writes); err != nil {
			return err
		}
		writes = nil
	}
	return nil
}

// storePieces stores some pieces of a file. If the user was erased after the upload began,
// storePieces stores nothing.
func (a *Artifacts) storePieces(ctx context.Context, c partition.Caller, up Upload, writes []storage.Write) error {
	return a.db.Update(ctx, c, a.erasedKeys(c), func(marks []storage.Record) ([]storage.Write, error) {
		return writes, notErased(marks, up.Began)
	})
}

// deleteContent removes all records of a file. deleteContent does not remove the entry of the file
// in the list of the session.
func (a *Artifacts) deleteContent(ctx context.Context, c partition.Caller, id string) error {
	count := func(storage.Head) {}
	if _, err := a.db.DeleteWhere(ctx, storage.Selector{Prefix: a.key(partition.File, c, id)}, count); err != nil {
		return err
	}
	_, err := a.db.Remove(ctx, []storage.Key{a.key(partition.FileText, c, id), a.uploadKey(c, id)}, count)
	return err
}

// Sweep removes the records of those uploads of a tenant that began before the given time and are
// not finished.
func (a *Artifacts) Sweep(ctx context.Context, tenant string, at time.Time) error {
	c := partition.Caller{Tenant: tenant}
	err := a.db.ScanHeads(ctx, a.db.App.System(partition.Upload, c), func(marks []storage.Head) error {
		for _, mark := range marks {
			if mark.Updated.After(at) {
				continue
			}
			if err := a.deleteContent(ctx, c, mark.Key.Part(storage.Item)); err != nil {
				return err
			}
		}
		return nil
	})
	return a.db.Fault("sweep uploads", err)
}
