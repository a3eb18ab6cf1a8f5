package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Tag says what a part of a key names. Parts stand in the order of their tags.
type Tag byte

// The tags. A key of the host's own records starts with a System part, which no guest can name.
const (
	System   Tag = 0x01
	Tenant   Tag = 0x10
	App      Tag = 0x20
	Store    Tag = 0x30
	User     Tag = 0x40
	Agent    Tag = 0x50
	Session  Tag = 0x60
	Workflow Tag = 0x70
	Item     Tag = 0x80
)

var tagNames = map[Tag]string{
	System: "system", Tenant: "tenant", App: "app", User: "user", Agent: "agent",
	Session: "session", Workflow: "workflow", Store: "store", Item: "item",
}

// String returns the tag's word.
func (t Tag) String() string {
	if name, ok := tagNames[t]; ok {
		return name
	}
	return fmt.Sprintf("tag(%#x)", byte(t))
}

// Part is one named part of a key.
type Part struct {
	Tag   Tag
	Value string
}

// Key is the encoded form of a list of parts: for each its tag, the length of its value as an unsigned
// varint, and the value. Two lists never share an encoding, no value can run into the next part, and the
// keys that begin with a list of parts are exactly those with its encoding as a prefix. Keys compare as
// strings; the zero Key is the prefix of every key.
type Key string

// MakeKey encodes parts, leaving out those with an empty value: what is absent is absent.
func MakeKey(parts ...Part) Key {
	return Key("").With(parts...)
}

// With returns k extended by parts.
func (k Key) With(parts ...Part) Key {
	size := len(k)
	for _, p := range parts {
		size += 2 + len(p.Value) + len(p.Value)/128 // of a length, a byte for each 7 bits
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

// Parts decodes the key. It fails on bytes that MakeKey cannot have made.
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

// valid reports whether MakeKey can have made the key.
func (k Key) valid() bool {
	for ok := true; k != ""; {
		if _, k, ok = k.cut(); !ok {
			return false
		}
	}
	return true
}

// cut takes the first part off a key that is not empty.
func (k Key) cut() (first Part, rest Key, ok bool) {
	tag := Tag(k[0])
	size, n := binary.Uvarint([]byte(k[1:min(len(k), 1+binary.MaxVarintLen64)]))
	overlong := n > 1 && k[n] == 0 // a varint that a shorter one would do for
	if n <= 0 || overlong || size == 0 || size > uint64(len(k)-1-n) || tagNames[tag] == "" {
		return Part{}, "", false
	}
	value := k[1+n:]
	return Part{Tag: tag, Value: string(value[:size])}, value[size:], true
}

// Part returns the value of the first part with that tag, or "" where the key has none.
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

// HasPrefix reports whether k lies under prefix.
func (k Key) HasPrefix(prefix Key) bool { return strings.HasPrefix(string(k), string(prefix)) }

// Tenant returns the tenant that k names, "" if it names none.
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

// Group returns the tenant and app that a record under k counts for, as a key; false if k names no app.
// The host's own records, whose keys start with a System part, count like any other.
func (k Key) Group() (Key, bool) {
	app, _, ok := k.groups()
	return app, ok
}

// groups returns the part of k that names tenant and app and, if k names a user right behind them or behind a
// store, the account of that user, or else "".
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

// String returns the key in words, for logs and error texts of operators: tenant=acme/app=shop. Values that could
// change a terminal, or be taken for other parts, are quoted as in Go.
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
