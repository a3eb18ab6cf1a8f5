package auth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
)

// The variable want lists the permissions of each role. The list has the same content as Table, but
// is grouped by role.
var want = map[auth.Role][]auth.Permission{
	auth.Operator: {
		auth.Run, auth.Sessions, auth.ReadSessions, auth.Files, auth.Prompts, auth.Blocks, auth.Collections, auth.Records, auth.ChangeRecords,
		auth.Stores, auth.ChangeStores, auth.Ledger, auth.Erase, auth.Transfer, auth.Code, auth.Usage, auth.Approve,
	},
	auth.Runtime:  {auth.Run, auth.Sessions, auth.ReadSessions, auth.Files, auth.Prompts, auth.Blocks, auth.Collections, auth.Stores},
	auth.Approver: {auth.Approve},
	auth.Backup:   {auth.Backups},
	auth.ReadOnly: {auth.ReadSessions, auth.Stores, auth.Ledger, auth.Usage},
	auth.Metering: {auth.Usage},
	auth.User:     {auth.Run, auth.Approve, auth.Sessions, auth.ReadSessions, auth.Files, auth.Prompts, auth.Blocks, auth.Collections},
}

func TestTable(t *testing.T) {
	seen := map[auth.Permission]bool{}
	for _, rule := range auth.Table {
		if seen[rule.Permission] || rule.Does == "" {
			t.Errorf("the permission %s has two rules, or no description", rule.Permission)
		}
		seen[rule.Permission] = true
		for _, role := range append(auth.Roles(), "", "root") {
			for _, code := range []bool{false, true} {
				may := slices.Contains(want[role], rule.Permission) || code && role == auth.Runtime && rule.Permission == auth.Code
				if got := (auth.Principal{Role: role, CanRunCode: code}).Allows(rule.Permission); got != may {
					t.Errorf("role %q, code %v: Allows(%s) = %v; want %v", role, code, rule.Permission, got, may)
				}
			}
		}
	}
	for _, permission := range want[auth.Operator] {
		if !seen[permission] {
			t.Errorf("the permission %s has no rule", permission)
		}
	}
	if (auth.Principal{Role: auth.Operator}).Allows("unheard_of") {
		t.Error("a permission without a rule is granted")
	}
}

func TestMayUse(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    auth.Principal
		app  string
		want bool
	}{
		{"all of them", auth.Principal{Role: auth.Runtime}, "shop", true},
		{"one of them", auth.Principal{Role: auth.Runtime, Apps: []string{"desk", "shop"}}, "shop", true},
		{"another", auth.Principal{Role: auth.Operator, Apps: []string{"desk"}}, "shop", false},
		{"by another case", auth.Principal{Role: auth.Operator, Apps: []string{"Shop"}}, "shop", false},
		{"the zero value", auth.Principal{}, "shop", false},
		{"an unknown role", auth.Principal{Role: "root"}, "shop", false},
	} {
		if got := tt.p.CanUseApp(tt.app); got != tt.want {
			t.Errorf("%s: CanUseApp(%s) = %v; want %v", tt.name, tt.app, got, tt.want)
		}
	}
}

func TestActAs(t *testing.T) {
	backend := auth.Principal{Role: auth.Runtime}
	ann := auth.Principal{Role: auth.User, User: "ann"}
	inS1 := auth.Principal{Role: auth.User, User: "ann", Session: "s1"}
	for _, tt := range []struct {
		name                       string
		p                          auth.Principal
		user, session              string
		wantUser, wantSession, err string
	}{
		{"a backend for whom it says", backend, "ben", "s2", "ben", "s2", ""},
		{"a backend without a user", backend, "", "", "", "", ""},
		{"filled in", inS1, "", "", "ann", "s1", ""},
		{"named again", inS1, "ann", "s1", "ann", "s1", ""},
		{"a session of one's own choice", ann, "", "s2", "ann", "s2", ""},
		{"a foreign user", ann, "ben", "", "", "", "access_denied: the credentials belong to another user"},
		{"a user by another case", ann, "Ann", "", "", "", "access_denied: the credentials belong to another user"},
		{"a foreign session", inS1, "ann", "s2", "", "", "access_denied: the credentials belong to another session"},
		{"a user without a name", auth.Principal{Role: auth.User}, "ben", "", "", "", "access_denied: the credentials do not contain a user id"},
	} {
		user, session, err := tt.p.ActAs(tt.user, tt.session)
		if text := errorText(err); user != tt.wantUser || session != tt.wantSession || text != tt.err {
			t.Errorf("%s: ActAs(%q, %q) = %q, %q, %q; want %q, %q, %q",
				tt.name, tt.user, tt.session, user, session, text, tt.wantUser, tt.wantSession, tt.err)
		}
		if err != nil && !errors.Is(err, abi.AccessDenied) {
			t.Errorf("%s: the error is not access_denied", tt.name)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		rejection auth.AuthError
		status    int
		challenge string
	}{
		{auth.NoCredentials, 401, `Bearer`},
		{auth.Ambiguous, 400, `Bearer error="invalid_request"`},
		{auth.Invalid, 401, `Bearer error="invalid_token"`},
		{auth.Expired, 401, `Bearer error="invalid_token", error_description="the credentials have expired"`},
	} {
		var err error = tt.rejection
		if tt.rejection.Status() != tt.status || tt.rejection.Challenge() != tt.challenge {
			t.Errorf("%s: %d, %s; want %d, %s", tt.rejection, tt.rejection.Status(), tt.rejection.Challenge(), tt.status, tt.challenge)
		}
		if f := abi.FaultOf(err); f.Code != abi.AccessDenied || f.Message != err.Error() {
			t.Errorf("%s: as a fault it is %v", tt.rejection, f)
		}
	}
}

func TestAuthenticate(t *testing.T) {
	keys, issuer := newKeys(t), newIssuer(t, "EdDSA")
	secret, _ := create(t, keys, auth.Grant{Name: "backend", Role: auth.Runtime, Tenant: "acme"})
	token := issuer.sign(t, issuer.claims())
	both := &auth.Authenticator{Keys: keys, Tokens: issuer.tokens(t, nil), Now: now}
	onlyKeys := &auth.Authenticator{Keys: keys, Now: now}
	onlyTokens := &auth.Authenticator{Tokens: both.Tokens, Now: now}
	for _, tt := range []struct {
		name    string
		a       *auth.Authenticator
		headers []string // Name: value
		who     string
		err     error
	}{
		{"a key", both, []string{"Authorization: Bearer " + secret}, "backend", nil},
		{"a key in its own header", both, []string{"X-API-Key: " + secret}, "backend", nil},
		{"a token", both, []string{"Authorization: Bearer " + token}, "ann", nil},
		{"a scheme in another case, more blanks", both, []string{"Authorization: bEARER   " + token}, "ann", nil},
		{"only keys", onlyKeys, []string{"Authorization: Bearer " + secret}, "backend", nil},
		{"only tokens", onlyTokens, []string{"Authorization: Bearer " + token}, "ann", nil},

		{"nothing", both, nil, "", auth.NoCredentials},
		{"another scheme", both, []string{"Authorization: Basic YW5uOmFubg=="}, "", auth.NoCredentials},
		{"no scheme", both, []string{"Authorization: " + secret}, "", auth.NoCredentials},
		{"an empty header", both, []string{"Authorization: "}, "", auth.NoCredentials},
		{"a scheme without credentials", both, []string{"Authorization: Bearer"}, "", auth.Invalid},
		{"an empty key", both, []string{"X-API-Key: "}, "", auth.Invalid},
		{"two headers", both, []string{"Authorization: Bearer " + secret, "X-API-Key: " + secret}, "", auth.Ambiguous},
		{"one header twice", both, []string{"Authorization: Bearer " + secret, "Authorization: Bearer " + token}, "", auth.Ambiguous},
		{"one key twice", both, []string{"X-API-Key: " + secret, "X-API-Key: " + secret}, "", auth.Ambiguous},
		{"one key twice, an empty one first", both, []string{"X-API-Key: ", "X-API-Key: " + secret}, "", auth.Ambiguous},
		{"joined by a proxy", both, []string{"Authorization: Bearer " + secret + ", Bearer " + secret}, "", auth.Invalid},
		{"a token for a key", both, []string{"X-API-Key: " + token}, "", auth.Invalid},
		{"a token with only keys enabled", onlyKeys, []string{"Authorization: Bearer " + token}, "", auth.Invalid},
		{"a key with only tokens enabled", onlyTokens, []string{"Authorization: Bearer " + secret}, "", auth.Invalid},
		{"a key in its own header there", onlyTokens, []string{"X-API-Key: " + secret}, "", auth.Invalid},
		{"a token in its own header there", onlyTokens, []string{"X-API-Key: " + token}, "", auth.Invalid},
		{"the zero value rejects everyone", &auth.Authenticator{}, []string{"Authorization: Bearer " + secret}, "", auth.Invalid},
		{"too long", both, []string{"Authorization: Bearer " + strings.Repeat("a", 20_000)}, "", auth.Invalid},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?access_token="+token, nil)
		for _, header := range tt.headers {
			name, value, _ := strings.Cut(header, ": ")
			r.Header.Add(name, value)
		}
		p, err := tt.a.Authenticate(r)
		if p.Name != tt.who || !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%s: Authenticate = %q, %v; want %q, %v", tt.name, p.Name, err, tt.who, tt.err)
		}
	}
}

// FuzzAuthenticate authenticates random headers without valid credentials.
func FuzzAuthenticate(f *testing.F) {
	keys, issuer := newKeys(f), newIssuer(f, "EdDSA")
	secret, _ := create(f, keys, auth.Grant{Name: "backend", Role: auth.Runtime, Tenant: "acme"})
	token := issuer.sign(f, issuer.claims())
	a := &auth.Authenticator{Keys: keys, Tokens: issuer.tokens(f, nil), Now: now}
	f.Add("Bearer "+secret[:len(secret)-1], "")
	f.Add("Bearer "+token[:len(token)-3], "")
	f.Add("bearer  eyJhbGciOiJub25lIn0.e30.", "")
	f.Add("Bearer {\"payload\":\"\"}", "")
	f.Add("", "trk_aaaaaaaaaa_"+strings.Repeat("a", 52))
	f.Add("Basic x", "\x00\xff")
	f.Fuzz(func(t *testing.T, authorization, key string) {
		r := &http.Request{Header: http.Header{}}
		if authorization != "" {
			r.Header["Authorization"] = []string{authorization}
		}
		if key != "" {
			r.Header["X-Api-Key"] = []string{key}
		}
		if strings.Contains(authorization+key, secret) || strings.Contains(authorization+key, token) {
			return
		}
		p, err := a.Authenticate(r)
		if err == nil || p.Role != "" || p.Tenant != "" {
			t.Fatalf("%q and %q were accepted: %+v, %v", authorization, key, p, err)
		}
		if _, ok := errors.AsType[auth.AuthError](err); !ok {
			t.Errorf("the error is not an AuthError: %v", err)
		}
	})
}
