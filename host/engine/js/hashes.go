package js

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"strings"

	"github.com/dop251/goja"
)

// hashes are the digests that tools have, by their names in Node.js.
var hashes = map[string]func() hash.Hash{
	"md5":        md5.New,
	"sha1":       sha1.New,
	"sha224":     sha256.New224,
	"sha256":     sha256.New,
	"sha384":     sha512.New384,
	"sha512":     sha512.New,
	"sha512-256": sha512.New512_256,
}

// hashNamed returns the digest of a name as OpenSSL writes it, nil if there is none.
func hashNamed(name string) func() hash.Hash {
	name = strings.TrimPrefix(strings.ToLower(name), "rsa-")
	if made, ok := hashes[name]; ok {
		return made
	}
	return hashes[strings.Replace(name, "sha-", "sha", 1)]
}

// createHash is createHash(name): an object of update, digest and copy, or null for an unknown name.
func (r *run) createHash(call goja.FunctionCall) goja.Value {
	create := hashNamed(call.Argument(0).String())
	if create == nil {
		return goja.Null()
	}
	return r.hashObject(create())
}

// createHmac is createHmac(name, buffer, offset, length), the last three of which are the key.
func (r *run) createHmac(call goja.FunctionCall) goja.Value {
	create := hashNamed(call.Argument(0).String())
	if create == nil {
		return goja.Null()
	}
	return r.hashObject(hmac.New(create, r.bytesAt(call, 1)))
}

func (r *run) hashObject(h hash.Hash) goja.Value {
	return r.hostObject(map[string]nativeFunc{
		"update": func(call goja.FunctionCall) goja.Value {
			r.feed(h, r.bytesAt(call, 0))
			return goja.Undefined()
		},
		"digest": func(goja.FunctionCall) goja.Value { return r.bytes(h.Sum(nil)) },
		"copy": func(goja.FunctionCall) goja.Value {
			cloner, ok := h.(hash.Cloner)
			if !ok {
				panic(r.newError("Error", "this digest cannot be copied"))
			}
			copied, err := cloner.Clone()
			if err != nil {
				panic(r.newError("Error", "this digest cannot be copied"))
			}
			return r.hashObject(copied)
		},
	})
}

// feedBytes is how much is hashed between two looks at whether the run is over.
const feedBytes = 1 << 20

func (r *run) feed(h hash.Hash, data []byte) {
	for len(data) > 0 && r.ctx.Err() == nil {
		n := min(len(data), feedBytes)
		h.Write(data[:n])
		data = data[n:]
	}
}

// equalBytes is equal(buffer, offset, length, buffer, offset, length). Its time does not depend on the contents.
func (r *run) equalBytes(call goja.FunctionCall) goja.Value {
	return r.vm.ToValue(subtle.ConstantTimeCompare(r.bytesAt(call, 0), r.bytesAt(call, 3)) == 1)
}

// bytesAt returns the bytes that three arguments from the n-th on name: a buffer, an offset and a length. It clamps what
// is out of range, since a guest can change what our modules compute with.
func (r *run) bytesAt(call goja.FunctionCall, n int) []byte {
	buffer, ok := call.Argument(n).(*goja.Object)
	if !ok || buffer.ExportType() != bufferType {
		return nil
	}
	all := buffer.Export().(goja.ArrayBuffer).Bytes()
	start := min(max(call.Argument(n+1).ToInteger(), 0), int64(len(all)))
	length := min(max(call.Argument(n+2).ToInteger(), 0), int64(len(all))-start)
	return all[start : start+length]
}
