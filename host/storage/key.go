package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Tag identifies the kind of a part of a key. The parts of a key are sorted by their tags.
type Tag byte

// The tags of the parts. Keys of the host's own records start with a System part, which
// tools cannot use.
const (
	System   Tag = 0x01
	Tenant   Tag = 0x10
	App      Tag = 0x20
	Store    Tag = 0x30
	User     Tag = 0x40
	Agent    Tag = 0x50
	Session  Tag = 0x60
	Workflow Tag = 0x70
	Shared   Tag = 0x78 // distinguishes items of the app from items of users in the same store
	// Namespace is a group of items in a store. The value of a Namespace part is a slash and the
	// name of the namespace. Because of the slash, the value is not empty even if the name of the
	// namespace is empty.
	Namespace Tag = 0x7c
	Item      Tag = 0x80
)

// tagNames is an array and not a map, because every access to a record decodes a key.
var tagNames = [256]string{
	System: "system", Tenant: "tenant", App: "app", User: "user", Agent: "agent",
	Session: "session", Workflow: "workflow", Shared: "shared", Store: "store", Namespace: "namespace", Item: "item",
}

// String returns the name of the tag.
func (t Tag) String() string {
	if name := tagNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("tag(%#x)", byte(t))
}

// Part is a component of a key. A part consists of a tag and a value.
type Part struct {
	Tag   Tag
	Value string
}

// Key is the encoded form of a list of parts. Each part is encoded as its tag, the length of its
// value as an unsigned varint, and the value.
//
// The encoding is unambiguous. A key begins with the parts of a list if and only if the encoded
// list is a prefix of the key. Keys are ordered like strings. The zero Key "" is a prefix of every
// key.
type Key string

// MakeKey encodes parts. MakeKey omits parts with an empty value.
func MakeKey(parts ...Part) Key {
	return Key("").With(parts...)
}

// With returns a key that consists of the parts of k and of the given parts.
func (k Key) With(parts ...Part) Key {
	size := len(k)
	for _, p := range parts {
		size += 2 + len(p.Value) + len(p.Value)/128 // a length needs one byte for each 7 bits
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(string(k))
	for _, p := range parts {
		if p.Value == "" {
			continue
		}
		b.WriteByte(byte(p.Tag))
		var length [binary.MaxVarintLen64]byte
		b.Write(binary.AppendUvarint(length[:0], uint64(len(p.Value))))
		b.WriteString(p.Value)
	}
	return Key(b.String())
}

var errKey = errors.New("malformed key")

// Parts decodes the key. Parts returns an error if the key is not a result of MakeKey.
func (k Key) Parts() ([]Part, error) {
	parts := make([]Part, 0, 6)
	for k != "" {
		p, rest, ok := k.cut()
		if !ok {
			return nil, errKey
		}
		parts, k = append(parts, p), rest
	}
	return parts, nil
}

// valid reports whether k is a possible result of MakeKey.
func (k Key) valid() bool {
	for ok := true; k != ""; {
		if _, k, ok = k.cut(); !ok {
			return false
		}
	}
	return true
}

// cut splits a non-empty key into its first part and the rest.
func (k Key) cut() (first Part, rest Key, ok bool) {
	tag := Tag(k[0])
	size, n := binary.Uvarint([]byte(k[1:min(len(k), 1+binary.MaxVarintLen64)]))
	overlong := n > 1 && k[n] == 0 // the same number has a shorter encoding as a varint
	if n <= 0 || overlong || size == 0 || size > uint64(len(k)-1-n) || tagNames[tag] == "" {
		return Part{}, "", false
	}
	value := k[1+n:]
	return Part{Tag: tag, Value: string(value[:size])}, value[size:], true
}

// Part returns the value of the first part of k that has the given tag, or "" if k has no such
// part.
func (k Key) Part(tag Tag) string {
	value := ""
	for k != "" {
		p, rest, ok := k.cut()
		if !ok {
			return ""
		}
		if p.Tag == tag && value == "" {
			value = p.Value
		}
		k = rest
	}
	return value
}

// HasPrefix reports whether k begins with the given prefix.
func (k Key) HasPrefix(prefix Key) bool { return strings.HasPrefix(string(k), string(prefix)) }

// Tenant returns the tenant in k, or "" if k contains no tenant.
func (k Key) Tenant() string {
	for k != "" {
		part, rest, ok := k.cut()
		if !ok {
			return ""
		}
		if part.Tag == Tenant {
			return part.Value
		}
		k = rest
	}
	return ""
}

// Group returns a key that consists of the tenant and the app in k. The record under k belongs to
// the usage of this app. The second result is false if k has no app. Group ignores a leading System
// part.
func (k Key) Group() (Key, bool) {
	app, _, ok := k.groups()
	return app, ok
}

// groups returns two prefixes of k. The first prefix contains the tenant and the app. The second
// prefix contains the tenant, the app and the user, but not the store. The second prefix is "" if k
// contains no user directly after the app or the store.
func (k Key) groups() (app, user Key, ok bool) {
	if !k.valid() || k == "" {
		return "", "", false
	}
	if Tag(k[0]) == System {
		_, k, _ = k.cut()
	}
	rest := k
	for _, tag := range []Tag{Tenant, App} {
		if rest == "" || Tag(rest[0]) != tag {
			return "", "", false
		}
		_, rest, _ = rest.cut()
	}
	app = k[:len(k)-len(rest)]
	inStore := rest != "" && Tag(rest[0]) == Store
	if inStore {
		_, rest, _ = rest.cut()
	}
	if rest == "" || Tag(rest[0]) != User {
		return app, "", true
	}
	_, behind, _ := rest.cut()
	if user = k[:len(k)-len(behind)]; inStore {
		user = app + rest[:len(rest)-len(behind)]
	}
	return app, user, true
}

// String returns the key as text for logs and errors, for example "tenant=acme/app=shop". If a
// value contains control characters or separators, the value is quoted as in Go.
func (k Key) String() string {
	parts, err := k.Parts()
	if err != nil {
		return fmt.Sprintf("%q", string(k))
	}
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprintf("%s=%s", p.Tag, printable(p.Value))
	}
	return strings.Join(words, "/")
}

func printable(text string) string {
	if quoted := strconv.Quote(text); quoted[1:len(quoted)-1] != text || strings.ContainsAny(text, "/=") {
		return quoted
	}
	return text
}
