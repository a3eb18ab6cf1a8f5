package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// copyTo writes a consistent copy of the database to f, which is empty. It copies entries and not
// pages, because free pages contain removed data until they are reused. The copy has no free pages,
// and is not synced to the disk yet.
func (b *Backend) copyTo(ctx context.Context, f *os.File) error {
	return full(b.read(func(tx *bbolt.Tx) error {
		return writePages(f, tx.DB().Info().PageSize, func(add func([]byte, func(visit) error) error) error {
			return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
				return add(name, func(yield visit) error {
					return bucket.ForEach(func(k, v []byte) error {
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

// full adds storage.ErrFull to an error of a disk without space.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	}
	return err
}
