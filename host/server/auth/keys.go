package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// SecretPattern is a regular expression that matches every API key, for secret scanners.
const SecretPattern = `trk_[a-z2-7]{10}_[a-z2-7]{52}`

const (
	secretPrefix = "trk_"
	idLength     = 10 // 50 bits suffice, because ids are not secret, and because Create ensures that ids are unique
	randomLength = 52
)

// Key describes an API key without its secret.
type Key struct {
	// ID is the part of the secret that identifies the key.
	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   Role   `json:"role"`
	Tenant string `json:"tenant"`
	// Apps lists the apps that the key may use. If Apps is empty, the key may use all apps of the
	// tenant.
	Apps []string `json:"apps,omitempty"`
	// Code allows the key to run code that is part of the request.
	Code    bool      `json:"code,omitempty"`
	Created time.Time `json:"created"`
	// Expires is the time at which the key becomes invalid. If Expires is the zero time, the key
	// does not expire.
	Expires time.Time `json:"expires,omitzero"`
}

// Grant describes the key to create. The fields of Grant have the same meaning as the fields of
// Key.
type Grant struct {
	Name    string
	Role    Role
	Tenant  string
	Apps    []string
	Code    bool
	Expires time.Time
}

// Keys are the API keys in a file. Keys is safe for concurrent use. Several processes can use the
// same file. Changes by different processes are serialized, and each process reads the changes
// within a second.
type Keys struct {
	// Logger receives errors that occur when a changed file is read. Set Logger before the first
	// use of Keys. Default: errors are discarded.
	Logger *slog.Logger
	// Now is the clock for all methods except Verify. Set Now before the first use of Keys.
	// Default: the system clock.
	Now func() time.Time

	file *watchedFile[keySet]
}

// Create creates a key, and returns the key and its secret. The secret is not stored and cannot be
// retrieved later. An invalid Grant is rejected with abi.InvalidArgument.
func (k *Keys) Create(g Grant) (secret string, key Key, err error) {
	now := k.now().UTC().Truncate(time.Second)
	if err := g.Check(now); err != nil {
		return "", Key{}, err
	}
	err = k.update(func(old keySet) (keySet, error) {
		id := newID(old)
		secret = secretPrefix + id + "_" + strings.ToLower(rand.Text()+rand.Text())
		key = Key{
			ID: id, Name: g.Name, Role: g.Role, Tenant: g.Tenant, Apps: slices.Clone(g.Apps), Code: g.Code,
			Created: now, Expires: g.Expires.UTC(),
		}
		return append(slices.Clone(old), storedKey{key, sha256.Sum256([]byte(secret))}), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, key.clone(), nil
}

func newID(taken keySet) string {
	for {
		id := strings.ToLower(rand.Text()[:idLength])
		if _, ok := taken.find(id); !ok {
			return id
		}
	}
}

// Check returns the error that Create would return for an invalid Grant at the given time. Check
// reads no file.
func (g Grant) Check(now time.Time) error {
	if !g.Expires.IsZero() && !g.Expires.After(now) {
		return abi.Faultf(abi.InvalidArgument, "the expiry of the key is in the past")
	}
	return Key{Name: g.Name, Role: g.Role, Tenant: g.Tenant, Apps: g.Apps, Code: g.Code}.check()
}

// check rejects a key with invalid or misleading fields.
func (k Key) check() error {
	if err := checkID("name", k.Name); err != nil {
		return err
	}
	if err := checkID("tenant", k.Tenant); err != nil {
		return err
	}
	for _, app := range k.Apps {
		if err := checkID("app", app); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains(KeyRoles(), k.Role):
		return abi.Faultf(abi.InvalidArgument, "keys cannot have the role %q", k.Role).WithHint("use %s", KeyRoleList())
	case k.Role == Backup && len(k.Apps) > 0:
		return abi.Faultf(abi.InvalidArgument, "a %s key applies to the whole service, not to apps", k.Role).
			WithHint("omit the apps")
	case k.Code && !allowed(k.Role, true, Code):
		return abi.Faultf(abi.InvalidArgument, "a %s key cannot run code", k.Role)
	}
	return nil
}

// List returns all keys, including expired keys, with the oldest key first.
func (k *Keys) List() []Key {
	keys := []Key{}
	for _, stored := range k.current(k.now()).byAge() {
		keys = append(keys, stored.clone())
	}
	return keys
}

// Revoke removes a key. Revoke returns abi.NotFound if no key has the given id.
func (k *Keys) Revoke(id string) error {
	return k.update(func(old keySet) (keySet, error) {
		i, ok := old.find(id)
		if !ok { // the message omits id, which can be a secret
			return nil, abi.Faultf(abi.NotFound, "no key has this id")
		}
		return slices.Delete(slices.Clone(old), i, i+1), nil
	})
}

// Verify returns the principal of the key with the given secret, if the key is valid at the given
// time. The error is Invalid or Expired. An incorrect secret is always Invalid, even if its key has
// expired.
//
// The file stores a single SHA-256 hash of each secret. A slow hash function, which protects
// passwords, is not necessary, because an attacker cannot guess a secret with 256 random bits. With
// a slow hash function, attackers could exhaust the CPU.
func (k *Keys) Verify(secret string, now time.Time) (Principal, error) {
	id, ok := idOf(secret)
	if !ok {
		return Principal{}, Invalid
	}
	// The hash is also computed and compared for an unknown id, so that the response time does not
	// reveal whether the id exists.
	keys, found := k.current(now), storedKey{}
	i, known := keys.find(id)
	if known {
		found = keys[i]
	}
	sum := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(sum[:], found.hash[:]) != 1 || !known {
		return Principal{}, Invalid
	}
	if !found.Expires.IsZero() && !now.Before(found.Expires) {
		return Principal{}, Expired
	}
	return Principal{
		Role: found.Role, Tenant: found.Tenant, Apps: slices.Clone(found.Apps), CanRunCode: found.Code, Name: found.Name,
	}, nil
}

// idOf returns the id in a secret. The result "ok" is true if the secret is well-formed.
func idOf(secret string) (string, bool) {
	rest, ok := strings.CutPrefix(secret, secretPrefix)
	id, random, cut := strings.Cut(rest, "_")
	return id, ok && cut && isID(id) && len(random) == randomLength && isBase32(random)
}

func isID(text string) bool { return len(text) == idLength && isBase32(text) }

func isBase32(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func (k *Keys) now() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}

func (k *Keys) current(now time.Time) keySet { return k.file.get(now, k.Logger) }

func (k Key) clone() Key {
	k.Apps = slices.Clone(k.Apps)
	return k
}
