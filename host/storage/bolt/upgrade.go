package bolt

import (
	"context"
	"errors"
	"strconv"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/toolrun/toolrun/host/storage"
)

// oldExpiryBucket is the index of format 1, whose entries have the exact time, or in files of some builds that
// of the slot.
var oldExpiryBucket = []byte("expiry")

// upgradeStep is how many entries one transaction of an upgrade adds: bbolt keeps the pages that a transaction
// changes in memory until its commit.
const upgradeStep = 1000

// upgrade brings a file of format 1 to the current one, by making the index of what expires anew from the
// records. The new index grows beside the old one, which stays what counts until the last transaction puts the
// new one in its place and changes the format: where an upgrade is interrupted, the next Open begins again.
func (b *Backend) upgrade() error {
	old := false
	err := b.read(func(tx *bbolt.Tx) error {
		old = isOld(tx)
		return nil
	})
	if err != nil || !old {
		return err
	}
	var next []byte
	for more := true; more; {
		err := b.write(func(t *transaction) (err error) {
			if next == nil {
				if err := t.clearIndex(); err != nil {
					return err
				}
			}
			next, err = t.indexFrom(next)
			if more = next != nil; err != nil || more {
				return err
			}
			return t.endUpgrade()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// write commits what fn does, all of it or nothing.
func (b *Backend) write(fn func(t *transaction) error) error {
	return b.submit(context.Background(), func(t *transaction) error {
		t.torn = true
		if err := fn(t); err != nil {
			return err
		}
		t.torn, t.wrote = false, true
		return nil
	})
}

// clearIndex removes what an upgrade that was interrupted left.
func (t *transaction) clearIndex() (err error) {
	if err := t.tx.DeleteBucket(expiryBucket); err != nil && !errors.Is(err, bbolterrors.ErrBucketNotFound) {
		return err
	}
	t.expiry, err = t.tx.CreateBucket(expiryBucket)
	return err
}

// indexFrom adds the entries of records from key first on, and returns the key to go on with, nil at the end.
// Records that cannot be read get none, for when they expire is not known.
func (t *transaction) indexFrom(first []byte) (next []byte, err error) {
	added := 0
	c := t.records.Cursor()
	for k, v := c.Seek(first); k != nil; k, v = c.Next() {
		if added == upgradeStep {
			return append([]byte(nil), k...), nil
		}
		r, err := storage.DecodeHead(storage.Key(k), v)
		if err != nil || r.Expires.IsZero() {
			continue
		}
		if err := t.expiry.Put(expiryEntry(r.Expires, r.Key), nil); err != nil {
			return nil, err
		}
		added++
	}
	return nil, nil
}

func (t *transaction) endUpgrade() error {
	if err := t.tx.DeleteBucket(oldExpiryBucket); err != nil && !errors.Is(err, bbolterrors.ErrBucketNotFound) {
		return err
	}
	return t.tx.Bucket(metaBucket).Put(formatKey, []byte(strconv.Itoa(format)))
}
