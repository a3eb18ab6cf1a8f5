package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// Usage implements storage.Backend.
func (b *Backend) Usage(ctx context.Context, accounts ...storage.Key) ([]storage.Usage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := make([]storage.Usage, len(accounts))
	err := b.read(func(tx *bbolt.Tx) (err error) {
		bucket := tx.Bucket(usageBucket)
		for i, account := range accounts {
			if found[i], err = usageOf(bucket, account); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// usageOf returns the usage of an account. The usage is zero if the bucket has no entry for the
// account.
func usageOf(bucket *bbolt.Bucket, account storage.Key) (storage.Usage, error) {
	data := bucket.Get([]byte(account))
	if data == nil {
		return storage.Usage{}, nil
	}
	return decodeUsage(account, data)
}

// putUsage stores the usage of an account. putUsage removes the entry if the usage is zero.
func putUsage(bucket *bbolt.Bucket, account storage.Key, u storage.Usage) error {
	if u == (storage.Usage{}) {
		return bucket.Delete([]byte(account))
	}
	return bucket.Put([]byte(account), encodeUsage(account, u))
}

// encodeUsage returns the stored form of an account's usage. The form consists of a CRC-32C
// checksum, the number of records, and the number of bytes. The numbers are varints. The checksum
// covers the account and the numbers.
func encodeUsage(account storage.Key, u storage.Usage) []byte {
	data := make([]byte, usageHeader, usageHeader+2*binary.MaxVarintLen64)
	data = binary.AppendVarint(binary.AppendVarint(data, u.Records), u.Bytes)
	binary.LittleEndian.PutUint32(data, usageSum(account, data))
	return data
}

// usageHeader is the size of the checksum.
const usageHeader = 4

func decodeUsage(account storage.Key, data []byte) (u storage.Usage, err error) {
	if len(data) < usageHeader || binary.LittleEndian.Uint32(data) != usageSum(account, data) {
		return u, fmt.Errorf("usage of %s: %w: the checksum does not match", account, storage.ErrCorrupt)
	}
	records, n := binary.Varint(data[usageHeader:])
	size, m := binary.Varint(data[usageHeader+max(n, 0):])
	if n <= 0 || m <= 0 || usageHeader+n+m != len(data) {
		return u, fmt.Errorf("usage of %s: %w: the entry is malformed", account, storage.ErrCorrupt)
	}
	return storage.Usage{Records: records, Bytes: size}, nil
}

func usageSum(account storage.Key, data []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(account), castagnoli), castagnoli, data[usageHeader:])
}
