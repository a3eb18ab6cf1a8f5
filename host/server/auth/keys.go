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

// SecretPattern is the regular expression of every API key, for scanners that look for leaked secrets.
const SecretPattern = `trk_[a-z2-7]{10}_[a-z2-7]{52}`

const (
	secretPrefix = "trk_"
	idLength     = 10 // 50 bits: ids need not be secret, and Create sees to it that they differ
	randomLength = 52
)

// Key is an API key as it may be shown: without its secret.
type Key struct {
	// ID is the part of the secret that names the key.
	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   Role   `json:"role"`
	Tenant string `json:"tenant"`
	// Apps are those that the key is for; none means all of the tenant's.
	Apps []string `json:"apps,omitempty"`
	// Code is leave to run code that comes with the request.
	Code    bool      `json:"code,omitempty"`
	Created time.Time `json:"created"`
	// Expires is the first moment at which the key is not taken; the zero time is never.
	Expires time.Time `json:"expires,omitzero"`
}

// Grant is what a new key shall be for. Its fields are those of Key.
type Grant struct {
	Name    string
	Role    Role
	Tenant  string
	Apps    []string
	Code    bool
	Expires time.Time
}

// Keys are the API keys in a file. It is safe for concurrent use, and so is the file by several processes: a change that
// one makes is taken up by the others within a second, and changes at one time are made one after the other.
type Keys struct {
	// Logger gets why a changed file cannot be read. Set it before the first use. Default: discard.
	Logger *slog.Logger
	// Now is the clock for everything but Verify, set before the first use. Default: the system's.
	Now func() time.Time

	file *watchedFile[keySet]
}

// Create makes a key and returns it with its secret, which is kept nowhere: it is shown now or never. A Grant that makes
// no sense is abi.InvalidArgument.
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

// Check refuses a Grant that Create would refuse at a time, as abi.InvalidArgument. It reads no file.
func (g Grant) Check(now time.Time) error {
	if !g.Expires.IsZero() && !g.Expires.After(now) {
		return abi.Faultf(abi.InvalidArgument, "the key would have expired already")
	}
	return Key{Name: g.Name, Role: g.Role, Tenant: g.Tenant, Apps: g.Apps, Code: g.Code}.check()
}

// check refuses a key that means nothing, or less than it seems to.
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
		return abi.Faultf(abi.InvalidArgument, "%q is not a key's role", k.Role).WithHint("write %s", KeyRoleList())
	case k.Role == Backup && len(k.Apps) > 0:
		return abi.Faultf(abi.InvalidArgument, "a %s key is for the whole service, and not for an app", k.Role).
			WithHint("leave the apps out")
	case k.Code && !allowed(k.Role, true, Code):
		return abi.Faultf(abi.InvalidArgument, "a %s key cannot run code", k.Role)
	}
	return nil
}

// List returns every key, the oldest first, the expired ones included.
func (k *Keys) List() []Key {
	keys := []Key{}
	for _, stored := range k.current(k.now()).byAge() {
		keys = append(keys, stored.clone())
	}
	return keys
}

// Revoke removes a key; it is abi.NotFound where there is none of that id.
func (k *Keys) Revoke(id string) error {
	return k.update(func(old keySet) (keySet, error) {
		i, ok := old.find(id)
		if !ok { // the text is not repeated: it may be a secret that was taken for an id
			return nil, abi.Faultf(abi.NotFound, "there is no key with this id")
		}
		return slices.Delete(slices.Clone(old), i, i+1), nil
	})
}

// Verify returns whom a secret stands for at a time. The error is Invalid or Expired; the latter only for who knows the
// whole secret.
//
// What is stored is one SHA-256 of the secret. Functions that are slow on purpose make up for passwords that can be
// guessed; nobody guesses 256 random bits, and a slow function would let strangers keep the processor busy.
func (k *Keys) Verify(secret string, now time.Time) (Principal, error) {
	id, ok := idOf(secret)
	if !ok {
		return Principal{}, Invalid
	}
	// An unknown id goes the whole way too, against a hash that no text is known to have.
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

// idOf returns the id in a secret, and false for what is none by its looks.
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
