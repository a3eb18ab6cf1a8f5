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

// copyTo writes a consistent copy of the database to f, which must be empty. copyTo copies entries
// instead of pages, because free pages contain removed data until they are reused. The copy has no
// free pages. The copy is not synced to the disk yet.
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

// full wraps an error with storage.ErrFull if the disk has no free space.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	}
	return err
}
