package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Role is the purpose of credentials, such as administration. The text of a Role appears in
// responses and key files.
type Role string

// The roles. The zero Role has no permissions.
const (
	// Operator administers a tenant and has all permissions within it.
	Operator Role = "operator"
	// Runtime is the role of the backend of a platform, which runs tools for all users of the
	// platform.
	Runtime Role = "runtime"
	// ReadOnly is for monitoring. ReadOnly can read declarations and the ledger, but not stored
	// content.
	ReadOnly Role = "read-only"
	// Approver can see, approve and deny effects that wait for an approval. Approver has no other
	// permission.
	Approver Role = "approver"
	// Backup can download backups of the whole service, including the content of all tenants.
	// Backup has no other permission.
	Backup Role = "backup"
	// Metering can read the usage of the apps of all tenants for billing. The usage contains only
	// counts and sizes, and no content.
	Metering Role = "metering"
	// User is the role of tokens, which act for only one user. Keys cannot have this role.
	User Role = "user"
)

// Roles returns all roles, with the most powerful role first.
func Roles() []Role { return []Role{Operator, Runtime, ReadOnly, Approver, Backup, Metering, User} }

// KeyRoles returns the roles that a key can have, with the most powerful role first. A key can have
// every role except User.
func KeyRoles() []Role {
	return slices.DeleteFunc(Roles(), func(r Role) bool { return r == User })
}

// KeyRoleList returns a text that lists the roles that a key can have, such as "operator, runtime
// or metering".
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

// The permissions. Table describes the permissions, and lists the roles that have each permission.
const (
	Run           Permission = "run"
	Approve       Permission = "approve"
	Sessions      Permission = "sessions"
	ReadSessions  Permission = "read_sessions"
	Files         Permission = "files"
	Prompts       Permission = "prompts"
	Blocks        Permission = "blocks"
	Collections   Permission = "collections"
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

// Rule describes a permission and lists the roles that have it.
type Rule struct {
	Permission Permission
	// The field Does is a text that describes what the permission allows.
	Does string
	// Roles lists the roles that have the permission.
	Roles []Role
	// WithCode lists the roles that have the permission only if Principal.CanRunCode is true.
	WithCode []Role
}

// Table is the complete list of permissions and does not change while a program runs. A role has
// only the permissions that Table lists for it. The permissions of the role User cover only the
// data of the user, as Principal.ActAs ensures.
var Table = []Rule{
	{Permission: Run, Does: "run declared tools", Roles: []Role{Operator, Runtime, User}},
	{Permission: Approve, Does: "see, approve and deny effects that wait for an approval; a user can decide only on effects of the user's own runs, if the tool declares `by: user`", Roles: []Role{Operator, Approver, User}},
	{Permission: Sessions, Does: "start, change and end sessions, read the metadata of sessions, add messages to transcripts, and end workflows", Roles: []Role{Operator, Runtime, User}},
	{Permission: ReadSessions, Does: "list sessions and workflows with users and times, but without metadata", Roles: []Role{Operator, Runtime, ReadOnly, User}},
	{Permission: Files, Does: "upload, list, download and activate files", Roles: []Role{Operator, Runtime, User}},
	{Permission: Prompts, Does: "render declared prompts", Roles: []Role{Operator, Runtime, User}},
	{Permission: Blocks, Does: "read, write and search the blocks of users, and read the memory for prompts", Roles: []Role{Operator, Runtime, User}},
	{Permission: Collections, Does: "list, read and search entries of collections; with credentials of a user, only entries that belong to the user", Roles: []Role{Operator, Runtime, User}},
	{Permission: Records, Does: "read the contents of records", Roles: []Role{Operator}},
	{Permission: ChangeRecords, Does: "write and delete records; store, import and remove entries of collections, and move collections to another embedding model", Roles: []Role{Operator}},
	{Permission: Stores, Does: "read the declarations of stores and collections, and the state of sleep-time memory", Roles: []Role{Operator, Runtime, ReadOnly}},
	{Permission: ChangeStores, Does: "change the declarations of stores; pause, resume and retry sleep-time memory", Roles: []Role{Operator}},
	{Permission: Ledger, Does: "read the audit log with operations, times and actors, but without contents", Roles: []Role{Operator, ReadOnly}},
	{Permission: Erase, Does: "remove all data of a user", Roles: []Role{Operator}},
	{Permission: Transfer, Does: "export the configuration of an app, and import stores", Roles: []Role{Operator}},
	{Permission: Backups, Does: "download a backup of all data of all tenants", Roles: []Role{Backup}},
	{Permission: Usage, Does: "read the usage of apps: runs, CPU time, bytes and more; the role `metering` can read the usage of all tenants", Roles: []Role{Operator, ReadOnly, Metering}},
	{Permission: Code, Does: "run code that comes with the request", Roles: []Role{Operator}, WithCode: []Role{Runtime}},
}

// allowed reports whether a role has a permission. The argument code is the value of
// Principal.CanRunCode.
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
	b.WriteString("| permission | allowed operations |")
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
