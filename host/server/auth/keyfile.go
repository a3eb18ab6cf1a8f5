package auth

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// A key file is one JSON document. Unknown fields are rejected, because a newer version of toolrun
// might have added a field that restricts a key.

// storedKey is a key with the hash of its secret.
type storedKey struct {
	Key
	hash [32]byte
}

// keySet is an immutable list of keys, sorted by id.
type keySet []storedKey

func (s keySet) find(id string) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(k storedKey, id string) int { return cmp.Compare(k.ID, id) })
}

// byAge returns the keys, with the oldest key first.
func (s keySet) byAge() []storedKey {
	return slices.SortedStableFunc(slices.Values(s), func(a, b storedKey) int { return a.Created.Compare(b.Created) })
}

const keyFileVersion = 1

type keyFile struct {
	Version int           `json:"version"`
	Keys    []keyFileItem `json:"keys"`
}

type keyFileItem struct {
	Key
	SHA256 string `json:"sha256"`
}

// OpenKeys opens a key file. Only the owner of the file may have access to the file (mode 0600).
// Errors contain no path. If the file does not exist, errors.Is(err, fs.ErrNotExist) is true. Use
// CreateKeys to create the file.
func OpenKeys(path string) (*Keys, error) {
	k := &Keys{file: &watchedFile[keySet]{path: path, forbidden: 0o077, decode: decodeKeys, empty: true}}
	// When OpenKeys reads the file, the clock of Keys is not set yet, so the read must not depend
	// on the time.
	var err error
	if k.file.value, k.file.info, err = k.file.read(); err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	return k, nil
}

// CreateKeys opens a key file like OpenKeys. CreateKeys creates an empty file if the file does not
// exist.
func CreateKeys(path string) (*Keys, error) {
	if k, err := OpenKeys(path); !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	unlock, err := lock(path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // otherwise, another process has created the file at the same time
		if err := replace(path, encodeKeys(nil)); err != nil {
			return nil, err
		}
	}
	return OpenKeys(path)
}

func decodeKeys(data []byte) (keySet, error) {
	var doc keyFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the file is not a key file: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("the file is not a key file: unexpected data after the document")
	}
	if doc.Version != keyFileVersion {
		return nil, fmt.Errorf("the key file has version %d; want version %d", doc.Version, keyFileVersion)
	}
	var keys keySet
	for i, item := range doc.Keys {
		stored, err := item.stored()
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		keys = append(keys, stored)
	}
	slices.SortFunc(keys, func(a, b storedKey) int { return cmp.Compare(a.ID, b.ID) })
	for i := range keys {
		if i > 0 && keys[i].ID == keys[i-1].ID {
			return nil, fmt.Errorf("duplicate key id %s", keys[i].ID)
		}
	}
	return keys, nil
}

func (item keyFileItem) stored() (storedKey, error) {
	if !isID(item.ID) {
		return storedKey{}, errors.New("invalid id")
	}
	stored := storedKey{Key: item.Key}
	hash, err := hex.DecodeString(item.SHA256)
	if err != nil || len(hash) != len(stored.hash) {
		return storedKey{}, errors.New("invalid sha256")
	}
	copy(stored.hash[:], hash)
	return stored, item.check()
}

func encodeKeys(keys keySet) []byte {
	doc := keyFile{Version: keyFileVersion, Keys: []keyFileItem{}}
	for _, k := range keys.byAge() {
		doc.Keys = append(doc.Keys, keyFileItem{k.Key, hex.EncodeToString(k.hash[:])})
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // unreachable for these types
	}
	return append(data, '\n')
}

// update locks the file, changes the content of the file, and unlocks the file.
func (k *Keys) update(change func(keySet) (keySet, error)) error {
	path := k.file.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // does not replace a symlink, and uses one lock for all names of the file
	}
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	old, _, err := k.file.read()
	if err != nil {
		return fmt.Errorf("read key file: %w", err)
	}
	keys, err := change(old)
	if err != nil {
		return err
	}
	data := encodeKeys(keys)
	if len(data) > maxFileBytes {
		return fmt.Errorf("write key file: the size would exceed %d bytes", maxFileBytes)
	}
	if err := replace(path, data); err != nil {
		return err
	}
	k.file.forget()
	return nil
}

// lock locks a file against changes by other processes. lock locks a separate file, because the key
// file itself is replaced. The lock file remains on disk. The system releases the lock when the
// process exits.
func lock(path string) (unlock func(), err error) {
	f, err := lockedfile.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock key file: %w", cause(err))
	}
	return func() { f.Close() }, nil
}

// replace replaces a file atomically.
func replace(path string, data []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write key file: %w", err)
		}
	}()
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".new-*") // with mode 0600
	if err != nil {
		return cause(err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err == nil {
		err = sameOwner(temp, path)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return cause(err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		if bad, ok := errors.AsType[*os.LinkError](err); ok {
			return bad.Err
		}
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder flushes the new directory entry to disk.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot flush a directory
	}
	f, err := os.Open(dir)
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	return f.Sync()
}
