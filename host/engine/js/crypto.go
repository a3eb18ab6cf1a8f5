package js

import (
	"crypto/hmac"
	"crypto/md5"
	cryptorand "crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"math/rand/v2"
	"strings"

	"github.com/dop251/goja"
)

// hashes contains the supported hash functions. The keys are the names that Node.js uses.
var hashes = map[string]func() hash.Hash{
	"md5":        md5.New,
	"sha1":       sha1.New,
	"sha224":     sha256.New224,
	"sha256":     sha256.New,
	"sha384":     sha512.New384,
	"sha512":     sha512.New,
	"sha512-256": sha512.New512_256,
}

// hashNamed returns the hash function that has the given name in OpenSSL. If there is none, it
// returns nil.
func hashNamed(name string) func() hash.Hash {
	name = strings.TrimPrefix(strings.ToLower(name), "rsa-")
	if made, ok := hashes[name]; ok {
		return made
	}
	return hashes[strings.Replace(name, "sha-", "sha", 1)]
}

// cryptoAPI contains the host functions that the crypto modules use.
type cryptoAPI struct {
	*realm
	random *rand.Rand // the random source of the run; if nil, the system's source is used
}

// createHash implements the function createHash(name). It returns an object with the methods
// update, digest and copy. If the name is unknown, it returns null.
func (c *cryptoAPI) createHash(call goja.FunctionCall) goja.Value {
	create := hashNamed(call.Argument(0).String())
	if create == nil {
		return goja.Null()
	}
	return c.hashObject(create())
}

// createHmac implements the function createHmac(name, buffer, offset, length). The key is the part
// of the buffer that the offset and the length determine.
func (c *cryptoAPI) createHmac(call goja.FunctionCall) goja.Value {
	create := hashNamed(call.Argument(0).String())
	if create == nil {
		return goja.Null()
	}
	return c.hashObject(hmac.New(create, bytesAt(call, 1)))
}

func (c *cryptoAPI) hashObject(h hash.Hash) goja.Value {
	return c.hostObject(map[string]nativeFunc{
		"update": func(call goja.FunctionCall) goja.Value {
			c.feed(h, bytesAt(call, 0))
			return goja.Undefined()
		},
		"digest": func(goja.FunctionCall) goja.Value { return newArrayBuffer(c.vm, h.Sum(nil)) },
		"copy": func(goja.FunctionCall) goja.Value {
			cloner, ok := h.(hash.Cloner)
			if !ok {
				panic(c.newError("Error", "this digest cannot be copied"))
			}
			copied, err := cloner.Clone()
			if err != nil {
				panic(c.newError("Error", "this digest cannot be copied"))
			}
			return c.hashObject(copied)
		},
	})
}

// feedBytes is the number of bytes that are hashed between two checks of whether the run has ended.
const feedBytes = 1 << 20

func (c *cryptoAPI) feed(h hash.Hash, data []byte) {
	for len(data) > 0 && c.ctx.Err() == nil {
		n := min(len(data), feedBytes)
		h.Write(data[:n])
		data = data[n:]
	}
}

// equalBytes implements the function equal(buffer, offset, length, buffer, offset, length). The
// duration of this function does not depend on the contents of the buffers.
func (c *cryptoAPI) equalBytes(call goja.FunctionCall) goja.Value {
	return c.vm.ToValue(subtle.ConstantTimeCompare(bytesAt(call, 0), bytesAt(call, 3)) == 1)
}

// maxRandomBytes is the maximum number of bytes that one call returns.
const maxRandomBytes = 1 << 20

// randomBytes implements the function random(n). JavaScript functions check n, but a guest can
// replace them, so randomBytes limits n again. If the run has a seed, the returned bytes depend on
// the seed.
func (c *cryptoAPI) randomBytes(call goja.FunctionCall) goja.Value {
	bytes := make([]byte, min(max(call.Argument(0).ToInteger(), 0), maxRandomBytes))
	if c.random == nil {
		_, _ = cryptorand.Read(bytes) // never fails
		return newArrayBuffer(c.vm, bytes)
	}
	for i := range bytes {
		bytes[i] = byte(c.random.Uint32())
	}
	return newArrayBuffer(c.vm, bytes)
}
