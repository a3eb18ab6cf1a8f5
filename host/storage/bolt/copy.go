package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// copyTo writes a consistent copy of the database to the file f, which must be empty. copyTo does
// not copy pages, because free pages contain removed data. copyTo copies the entries of the
// buckets. The copy has no free pages. copyTo does not sync the copy to the disk.
func (b *Backend) copyTo(ctx context.Context, f *os.File) error {
	return full(b.read(func(tx *bbolt.Tx) error {
		changes, _, err := readDeferred(tx, nil)
		if err != nil {
			return err
		}
		return writePages(f, tx.DB().Info().PageSize, func(add func([]byte, func(visit) error) error) error {
			return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
				return add(name, func(yield visit) error {
					return eachCopied(tx, changes, name, func(k, v []byte) error {
						if err := ctx.Err(); err != nil {
							return err
						}
						return yield(k, v)
					})
				})
			})
		})
	}))
}

// eachCopied calls fn for each entry that a copy of a bucket must contain. Deferred changes can
// contain keys of removed records, so a copy contains no deferred changes. The indexes of a copy
// are complete.
func eachCopied(tx *bbolt.Tx, changes indexChanges, name []byte, fn visit) error {
	if bytes.Equal(name, deferredBucket) {
		return nil
	}
	for in, bucket := range indexBuckets {
		if !bytes.Equal(name, bucket) {
			continue
		}
		for entry := range indexEntries(tx, changes, index(in), nil, nil) {
			if err := fn(entry, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return tx.Bucket(name).ForEach(fn)
}

// full wraps an error with storage.ErrFull if the disk has no free space.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	}
	return err
}
