package auth_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func now() time.Time { return start }

func newKeys(t testing.TB) *auth.Keys {
	t.Helper()
	return openKeys(t, filepath.Join(t.TempDir(), "keys.json"))
}

func openKeys(t testing.TB, path string) *auth.Keys {
	t.Helper()
	keys, err := auth.CreateKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	keys.Now = now
	return keys
}

func create(t testing.TB, keys *auth.Keys, g auth.Grant) (string, auth.Key) {
	t.Helper()
	secret, key, err := keys.Create(g)
	if err != nil {
		t.Fatal(err)
	}
	return secret, key
}

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	keys := openKeys(t, path)
	grant := auth.Grant{
		Name: "backend", Role: auth.Runtime, Tenant: "acme", Apps: []string{"shop"}, Code: true, Expires: start.Add(time.Hour),
	}
	secret, key := create(t, keys, grant)
	other, otherKey := create(t, keys, auth.Grant{Name: "ops", Role: auth.Operator, Tenant: "default"})

	if !regexp.MustCompile("^"+auth.SecretPattern+"$").MatchString(secret) || secret == other {
		t.Error("a secret is malformed, or two are equal")
	}
	wantKey := auth.Key{
		ID: key.ID, Name: "backend", Role: auth.Runtime, Tenant: "acme", Apps: []string{"shop"}, Code: true,
		Created: start, Expires: start.Add(time.Hour),
	}
	reopened := openKeys(t, path)
	if diff := cmp.Diff([]auth.Key{wantKey, otherKey}, sortedByName(reopened.List())); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	wantPrincipal := auth.Principal{Role: auth.Runtime, Tenant: "acme", Apps: []string{"shop"}, CanRunCode: true, Name: "backend"}
	for _, keys := range []*auth.Keys{keys, reopened} {
		got, err := keys.Verify(secret, start)
		if diff := cmp.Diff(wantPrincipal, got); err != nil || diff != "" {
			t.Errorf("Verify: %v (-want +got):\n%s", err, diff)
		}
	}
	checkFile(t, path, secret)

	if err := keys.Revoke(key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Verify(secret, start); !errors.Is(err, auth.Invalid) {
		t.Errorf("a revoked key: %v; want invalid", err)
	}
	if _, err := keys.Verify(other, start); err != nil {
		t.Errorf("the other key: %v", err)
	}
	if err := keys.Revoke(secret); !errors.Is(err, abi.NotFound) || strings.Contains(err.Error(), secret) {
		t.Errorf("Revoke of an unknown id = %v", err)
	}
}

func sortedByName(keys []auth.Key) []auth.Key {
	return slices.SortedFunc(slices.Values(keys), func(a, b auth.Key) int { return strings.Compare(a.Name, b.Name) })
}

// checkFile checks that only the owner can access the file and that the file contains no random
// part of a secret.
func checkFile(t *testing.T, path, secret string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if random := secret[strings.LastIndex(secret, "_")+1:]; bytes.Contains(data, []byte(random)) {
		t.Error("the file contains a secret")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's permissions are %v", info.Mode())
	}
}

func TestVerifyRefuses(t *testing.T) {
	keys := newKeys(t)
	secret, key := create(t, keys, auth.Grant{Name: "a", Role: auth.Runtime, Tenant: "acme", Expires: start.Add(time.Hour)})
	foreign, _ := create(t, newKeys(t), auth.Grant{Name: "b", Role: auth.Operator, Tenant: "acme"})
	swapped := "trk_" + key.ID + foreign[strings.LastIndex(foreign, "_"):]
	last := byte('a')
	if secret[len(secret)-1] == last {
		last = 'b'
	}
	for _, tt := range []struct {
		name, secret string
		at           time.Time
		want         error
	}{
		{"a moment before it expires", secret, start.Add(time.Hour - 1), nil},
		{"when it expires", secret, start.Add(time.Hour), auth.Expired},
		{"a wrong secret after that", swapped, start.Add(time.Hour), auth.Invalid},
		{"another file's", foreign, start, auth.Invalid},
		{"a known id with another's secret", swapped, start, auth.Invalid},
		{"one letter off", secret[:len(secret)-1] + string(last), start, auth.Invalid},
		{"upper case", strings.ToUpper(secret), start, auth.Invalid},
		{"cut off", secret[:len(secret)-1], start, auth.Invalid},
		{"with a tail", secret + "a", start, auth.Invalid},
		{"with a line break", secret + "\n", start, auth.Invalid},
		{"only an id", "trk_" + key.ID + "_", start, auth.Invalid},
		{"nothing", "", start, auth.Invalid},
	} {
		if _, err := keys.Verify(tt.secret, tt.at); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: Verify = %v; want %v", tt.name, err, tt.want)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	good := auth.Grant{Name: "a", Role: auth.Runtime, Tenant: "acme"}
	for _, tt := range []struct {
		name   string
		change func(*auth.Grant)
	}{
		{"no name", func(g *auth.Grant) { g.Name = "" }},
		{"a name over two lines", func(g *auth.Grant) { g.Name = "a\nb" }},
		{"no tenant", func(g *auth.Grant) { g.Tenant = "" }},
		{"an app without an id", func(g *auth.Grant) { g.Apps = []string{"shop", ""} }},
		{"no role", func(g *auth.Grant) { g.Role = "" }},
		{"a token's role", func(g *auth.Grant) { g.Role = auth.User }},
		{"code for who may not run", func(g *auth.Grant) { g.Role, g.Code = auth.ReadOnly, true }},
		{"expired", func(g *auth.Grant) { g.Expires = start }},
	} {
		g := good
		tt.change(&g)
		keys := newKeys(t)
		if _, _, err := keys.Create(g); !errors.Is(err, abi.InvalidArgument) || len(keys.List()) != 0 {
			t.Errorf("%s: Create = %v, and there are %d keys", tt.name, err, len(keys.List()))
		}
	}
}

func TestOpenKeysRefuses(t *testing.T) {
	item := func(id, more string) string {
		return `{"id":"` + id + `","name":"a","role":"runtime","tenant":"t","created":"2030-01-01T00:00:00Z","sha256":"` + strings.Repeat("00", 32) + `"` + more + `}`
	}
	for _, tt := range []struct{ name, content, want string }{
		{"empty", ``, "EOF"},
		{"no version", `{"keys":[]}`, "version 0"},
		{"of the future", `{"version":2,"keys":[]}`, "version 2"},
		{"a field that narrows what a key may do", `{"version":1,"keys":[` + item("aaaaaaaaaa", `,"user":"ann"`) + `]}`, "user"},
		{"two documents", `{"version":1,"keys":[]}{}`, "data after the document"},
		{"an id twice", `{"version":1,"keys":[` + item("aaaaaaaaaa", "") + `,` + item("aaaaaaaaaa", "") + `]}`, "duplicate key"},
		{"a bad id", `{"version":1,"keys":[` + item("A", "") + `]}`, "key 1: invalid id"},
		{"a bad hash", `{"version":1,"keys":[` + strings.Replace(item("aaaaaaaaaa", ""), `"sha256":"00`, `"sha256":"zz`, 1) + `]}`, "sha256"},
		{"a bad role", `{"version":1,"keys":[` + strings.Replace(item("aaaaaaaaaa", ""), "runtime", "root", 1) + `]}`, "role"},
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		write(t, path, tt.content)
		if _, err := auth.OpenKeys(path); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), path) {
			t.Errorf("%s: OpenKeys = %v; want an error with %q", tt.name, err, tt.want)
		}
	}
	if _, err := auth.OpenKeys(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenKeys of a missing file = %v", err)
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenKeysRefusesOpenFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system has no such file permissions")
	}
	path := filepath.Join(t.TempDir(), "keys.json")
	openKeys(t, path)
	for mode, want := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o620: false, 0o604: false, 0o602: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.OpenKeys(path); (err == nil) != want {
			t.Errorf("mode %o: OpenKeys = %v", mode, err)
		}
	}
}

// TestReload opens a key file and then changes the file.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	first := openKeys(t, path)
	secret, key := create(t, first, auth.Grant{Name: "a", Role: auth.Runtime, Tenant: "acme"})
	var log bytes.Buffer
	keys := openKeys(t, path)
	keys.Logger = slog.New(slog.NewTextHandler(&log, nil))
	at := start
	verify := func(want error) {
		t.Helper()
		if _, err := keys.Verify(secret, at); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("after %v: Verify = %v; want %v", at.Sub(start), err, want)
		}
	}
	verify(nil)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	write(t, path, "{") // the last valid version remains in use
	for range 3 {
		at = at.Add(2 * time.Second)
		verify(nil)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || strings.Contains(log.String(), secret) {
		t.Errorf("an unreadable file is logged %d times; want once:\n%s", n, &log)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	at = at.Add(2 * time.Second)
	verify(auth.Invalid) // a missing file contains no keys

	write(t, path, string(good))
	at = at.Add(2 * time.Second)
	verify(nil)
	if err := first.Revoke(key.ID); err != nil {
		t.Fatal(err)
	}
	verify(nil) // the file is checked at most once per second
	at = at.Add(time.Second)
	verify(auth.Invalid)
}

// TestOneSize changes a file but not its size. The modification time changes by less than the
// precision of the clock.
func TestOneSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	keys := openKeys(t, path)
	create(t, keys, auth.Grant{Name: "before", Role: auth.Runtime, Tenant: "acme"})
	keys.Now = time.Now
	keys.List()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(data), "before", "behind", 1))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	keys.Now = func() time.Time { return info.ModTime().Add(1500 * time.Millisecond) }
	if list := keys.List(); list[0].Name != "behind" {
		t.Errorf("the name of the key is %s; want the changed one", list[0].Name)
	}
}

// TestRace checks that no change is lost if a file is changed concurrently.
func TestRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	const sides, each = 8, 5
	var wg sync.WaitGroup
	for side := range sides {
		wg.Go(func() {
			keys, err := auth.CreateKeys(path)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				secret, key, err := keys.Create(auth.Grant{Name: fmt.Sprintf("%d-%d", side, i), Role: auth.Runtime, Tenant: "acme"})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := keys.Verify(secret, time.Now()); err != nil {
					t.Errorf("a new key: %v", err)
				}
				if i == 0 {
					if err := keys.Revoke(key.ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := len(openKeys(t, path).List()); got != sides*(each-1) {
		t.Errorf("there are %d keys; want %d", got, sides*(each-1))
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("leftover files: %v, %v", left, err)
	}
}

// TestProcesses is like TestRace, but with two processes of this test binary.
func TestProcesses(t *testing.T) {
	const each = 10
	if path := os.Getenv("ACCESS_TEST_KEYS"); path != "" {
		for range each {
			create(t, openKeys(t, path), auth.Grant{Name: "child", Role: auth.Runtime, Tenant: "acme"})
		}
		return
	}
	path := filepath.Join(t.TempDir(), "keys.json")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestProcesses$")
			cmd.Env = append(os.Environ(), "ACCESS_TEST_KEYS="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if got := len(openKeys(t, path).List()); got != 2*each {
		t.Errorf("there are %d keys; want %d", got, 2*each)
	}
}

func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "keys.json"), filepath.Join(dir, "link.json")
	openKeys(t, path)
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	create(t, openKeys(t, link), auth.Grant{Name: "a", Role: auth.Runtime, Tenant: "acme"})
	if got := len(openKeys(t, path).List()); got != 1 {
		t.Errorf("there are %d keys behind the link; want 1", got)
	}
}

func FuzzOpenKeys(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":[{"id":"aaaaaaaaaa","name":"a","role":"runtime","tenant":"t","created":"2030-01-01T00:00:00Z","sha256":"` + strings.Repeat("00", 32) + `"}]}`))
	f.Add([]byte(`{"version":1,"keys":null}`))
	path := filepath.Join(f.TempDir(), "keys.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		write(t, path, string(data))
		keys, err := auth.OpenKeys(path)
		if err != nil {
			return
		}
		for _, key := range keys.List() {
			if !(auth.Principal{Role: key.Role}).CanUseApp("x") || key.Tenant == "" {
				t.Errorf("an invalid key: %+v", key)
			}
		}
	})
}

func BenchmarkKeysVerify(b *testing.B) {
	keys := newKeys(b)
	var secret string
	for range 100 {
		secret, _ = create(b, keys, auth.Grant{Name: "a", Role: auth.Runtime, Tenant: "acme"})
	}
	unknown := "trk_aaaaaaaaaa_" + strings.Repeat("a", 52)
	for name, secret := range map[string]string{"known": secret, "unknown": unknown} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = keys.Verify(secret, start)
			}
		})
	}
}

// TestKeysOfEveryRole creates a key for each role that keys can have and reads the key from its
// file.
func TestKeysOfEveryRole(t *testing.T) {
	for _, role := range auth.Roles() {
		path := filepath.Join(t.TempDir(), "keys.json")
		secret, _, err := openKeys(t, path).Create(auth.Grant{Name: "k", Role: role, Tenant: "acme"})
		if role == auth.User {
			if !errors.Is(err, abi.InvalidArgument) || !strings.Contains(abi.FaultOf(err).Hint, string(auth.Metering)) {
				t.Errorf("a key of role %s: %v; want an error that lists the roles", role, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("a key of role %s: %v", role, err)
			continue
		}
		if got, err := openKeys(t, path).Verify(secret, start); err != nil || got.Role != role {
			t.Errorf("a key of role %s, read from its file = %v, %v", role, got.Role, err)
		}
	}
}
