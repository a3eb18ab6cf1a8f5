package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Role is the kind of work that credentials are for. Its text appears in responses and key files.
type Role string

// Roles. The zero Role has no permissions.
const (
	// Operator administers a tenant: it has every permission within it.
	Operator Role = "operator"
	// Runtime is a platform's backend, which runs tools for all of its users.
	Runtime Role = "runtime"
	// ReadOnly monitors: it sees declarations and the ledger, never stored content.
	ReadOnly Role = "read-only"
	// Backup downloads backups of the whole service, including the content of all tenants, and has
	// no other permission.
	Backup Role = "backup"
	// Metering reads the usage of the apps of all tenants, for billing: counts and sizes, no
	// content.
	Metering Role = "metering"
	// User is the role of tokens: it acts only for one user. Keys cannot have it.
	User Role = "user"
)

// Roles returns every role, the most powerful first.
func Roles() []Role { return []Role{Operator, Runtime, ReadOnly, Backup, Metering, User} }

// KeyRoles returns the roles that a key may have, the most powerful first: all except User.
func KeyRoles() []Role {
	return slices.DeleteFunc(Roles(), func(r Role) bool { return r == User })
}

// KeyRoleList returns KeyRoles as text: "operator, runtime or metering".
func KeyRoleList() string {
	var names []string
	for _, role := range KeyRoles() {
		names = append(names, string(role))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Permission is the right to perform one kind of operation.
type Permission string

// Permissions. Table describes them and lists the roles that have them.
const (
	Run           Permission = "run"
	Sessions      Permission = "sessions"
	ReadSessions  Permission = "read_sessions"
	Files         Permission = "files"
	Prompts       Permission = "prompts"
	Records       Permission = "records"
	ChangeRecords Permission = "change_records"
	Stores        Permission = "stores"
	ChangeStores  Permission = "change_stores"
	Ledger        Permission = "ledger"
	Erase         Permission = "erase"
	Transfer      Permission = "transfer"
	Code          Permission = "code"
	Backups       Permission = "backups"
	Usage         Permission = "usage"
)

// Rule lists the roles that have a permission.
type Rule struct {
	Permission Permission
	// Does describes what the permission allows.
	Does string
	// Roles have the right.
	Roles []Role
	// WithCode lists roles that have the permission only if Principal.CanRunCode is true.
	WithCode []Role
}

// Table is the complete list of permissions. No role has a permission that is not in it. The role
// User can use a permission only for its own data; see Principal.ActAs. It does not change while a
// program runs.
var Table = []Rule{
	{Permission: Run, Does: "run declared tools", Roles: []Role{Operator, Runtime, User}},
	{Permission: Sessions, Does: "start, change and end sessions, and see their metadata", Roles: []Role{Operator, Runtime, User}},
	{Permission: ReadSessions, Does: "list sessions with users and times; no metadata", Roles: []Role{Operator, Runtime, ReadOnly, User}},
	{Permission: Files, Does: "upload, list and download files, and activate them", Roles: []Role{Operator, Runtime, User}},
	{Permission: Prompts, Does: "render declared prompts", Roles: []Role{Operator, Runtime, User}},
	{Permission: Records, Does: "read the contents of records", Roles: []Role{Operator}},
	{Permission: ChangeRecords, Does: "write and delete records", Roles: []Role{Operator}},
	{Permission: Stores, Does: "read the declarations of stores", Roles: []Role{Operator, Runtime, ReadOnly}},
	{Permission: ChangeStores, Does: "change the declarations of stores", Roles: []Role{Operator}},
	{Permission: Ledger, Does: "read the audit log: operations, times and actors; no contents", Roles: []Role{Operator, ReadOnly}},
	{Permission: Erase, Does: "remove all data of a user", Roles: []Role{Operator}},
	{Permission: Transfer, Does: "export and import", Roles: []Role{Operator}},
	{Permission: Backups, Does: "download a backup of all data of all tenants", Roles: []Role{Backup}},
	{Permission: Usage, Does: "read the usage of apps: runs, CPU time, bytes; with the role metering, of all tenants", Roles: []Role{Operator, ReadOnly, Metering}},
	{Permission: Code, Does: "run code that comes with the request", Roles: []Role{Operator}, WithCode: []Role{Runtime}},
}

// allowed reports whether a role has a permission. code allows it to run code.
func allowed(role Role, code bool, permission Permission) bool {
	for _, rule := range Table {
		if rule.Permission == permission {
			return slices.Contains(rule.Roles, role) || code && slices.Contains(rule.WithCode, role)
		}
	}
	return false
}

// Markdown returns Table as a Markdown table for the documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| permission | allows to |")
	for _, role := range Roles() {
		fmt.Fprintf(&b, " %s |", role)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(Roles())) + "\n")
	for _, rule := range Table {
		fmt.Fprintf(&b, "| `%s` | %s |", rule.Permission, rule.Does)
		for _, role := range Roles() {
			fmt.Fprintf(&b, " %s |", rule.cell(role))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (r Rule) cell(role Role) string {
	switch {
	case slices.Contains(r.Roles, role):
		return "yes"
	case slices.Contains(r.WithCode, role):
		return "if enabled for the key"
	}
	return "-"
}
