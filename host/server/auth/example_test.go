package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/host/server/auth"
)

func Example() {
	dir, err := os.MkdirTemp("", "access")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	keys, err := auth.CreateKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		fmt.Println(err)
		return
	}
	secret, _, err := keys.Create(auth.Grant{Name: "backend", Role: auth.Runtime, Tenant: "acme", Apps: []string{"shop"}})
	if err != nil {
		fmt.Println(err)
		return
	}

	authenticator := &auth.Authenticator{Keys: keys}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	_, err = authenticator.Authenticate(r)
	if rejection, ok := errors.AsType[auth.AuthError](err); ok {
		fmt.Println(rejection.Status(), rejection.Challenge())
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	p, err := authenticator.Authenticate(r)
	fmt.Println(p.Name, p.CanUseApp("shop"), p.Allows(auth.Run), p.Allows(auth.Records), err)
	// Output:
	// 401 Bearer
	// backend true true false <nil>
}

func ExampleMarkdown() {
	fmt.Print(auth.Markdown())
	// Output:
	// | permission | allowed operations | operator | runtime | read-only | approver | backup | metering | user |
	// | --- | --- | --- | --- | --- | --- | --- | --- | --- |
	// | `run` | run declared tools | yes | yes | - | - | - | - | yes |
	// | `approve` | see, approve and deny effects that wait for an approval; a user can decide only on effects of the user's own runs, if the tool declares `by: user` | yes | - | - | yes | - | - | yes |
	// | `sessions` | start, change and end sessions, read the metadata of sessions, add messages to transcripts, and end workflows | yes | yes | - | - | - | - | yes |
	// | `read_sessions` | list sessions and workflows with users and times, but without metadata | yes | yes | yes | - | - | - | yes |
	// | `files` | upload, list, download and activate files | yes | yes | - | - | - | - | yes |
	// | `prompts` | render declared prompts | yes | yes | - | - | - | - | yes |
	// | `blocks` | read, write and search the blocks of users, and read the memory for prompts | yes | yes | - | - | - | - | yes |
	// | `collections` | list, read and search entries of collections; with credentials of a user, only entries that belong to the user | yes | yes | - | - | - | - | yes |
	// | `records` | read the contents of records | yes | - | - | - | - | - | - |
	// | `change_records` | write and delete records; store, import and remove entries of collections, and move collections to another embedding model | yes | - | - | - | - | - | - |
	// | `stores` | read the declarations of stores and collections, and the state of sleep-time memory | yes | yes | yes | - | - | - | - |
	// | `change_stores` | change the declarations of stores; pause, resume and retry sleep-time memory | yes | - | - | - | - | - | - |
	// | `ledger` | read the audit log with operations, times and actors, but without contents | yes | - | yes | - | - | - | - |
	// | `erase` | remove all data of a user | yes | - | - | - | - | - | - |
	// | `transfer` | export the configuration of an app, and import stores | yes | - | - | - | - | - | - |
	// | `backups` | download a backup of all data of all tenants | - | - | - | - | yes | - | - |
	// | `usage` | read the usage of apps: runs, CPU time, bytes and more; the role `metering` can read the usage of all tenants | yes | - | yes | - | - | yes | - |
	// | `code` | run code that comes with the request | yes | if enabled for the key | - | - | - | - | - |
}
