package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Role says what kind of work credentials are for. Its text is on the wire and in key files.
type Role string

// The roles. The zero Role has no right.
const (
	// Operator looks after what a tenant has: every right within it.
	Operator Role = "operator"
	// Runtime is a platform's backend, which runs tools for all of its users.
	Runtime Role = "runtime"
	// ReadOnly watches: what there is and what happened, never what is remembered.
	ReadOnly Role = "read-only"
	// Backup takes backups of the whole service, all tenants' content included, and does nothing else.
	Backup Role = "backup"
	// Metering reads what the apps of all tenants use, for bills: counts and sizes, no content.
	Metering Role = "metering"
	// User is a token's: one user, who acts for nobody else. No key has it.
	User Role = "user"
)

// Roles returns every role, the widest first.
func Roles() []Role { return []Role{Operator, Runtime, ReadOnly, Backup, Metering, User} }

// KeyRoles returns the roles that a key may have, the widest first: all but User.
func KeyRoles() []Role {
	return slices.DeleteFunc(Roles(), func(r Role) bool { return r == User })
}

// KeyRoleList returns KeyRoles as a text for people: "operator, runtime or metering".
func KeyRoleList() string {
	var names []string
	for _, role := range KeyRoles() {
		names = append(names, string(role))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Right is one kind of thing to do.
type Permission string

// The rights; Table says what they are and who has them.
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

// Rule says who has a right.
type Rule struct {
	Permission Permission
	// Does says in words what the right allows.
	Does string
	// Roles have the right.
	Roles []Role
	// WithCode have it where their credentials say so one by one: Principal.Code.
	WithCode []Role
}

// Table is who may do what, whole. A right that is not in it is nobody's. What a role User may do it may do to its own
// alone; see Principal.Act. It is not changed while a program runs.
var Table = []Rule{
	{Permission: Run, Does: "run declared tools", Roles: []Role{Operator, Runtime, User}},
	{Permission: Sessions, Does: "start, change and end sessions, and see their metadata", Roles: []Role{Operator, Runtime, User}},
	{Permission: ReadSessions, Does: "list sessions: whose, since when; no metadata", Roles: []Role{Operator, Runtime, ReadOnly, User}},
	{Permission: Files, Does: "upload, list and download files, and say which are active", Roles: []Role{Operator, Runtime, User}},
	{Permission: Prompts, Does: "render declared prompts", Roles: []Role{Operator, Runtime, User}},
	{Permission: Records, Does: "read the contents of records", Roles: []Role{Operator}},
	{Permission: ChangeRecords, Does: "write and delete records", Roles: []Role{Operator}},
	{Permission: Stores, Does: "read the declarations of stores", Roles: []Role{Operator, Runtime, ReadOnly}},
	{Permission: ChangeStores, Does: "change the declarations of stores", Roles: []Role{Operator}},
	{Permission: Ledger, Does: "read what was done, when and by whom; no contents", Roles: []Role{Operator, ReadOnly}},
	{Permission: Erase, Does: "remove everything of a user", Roles: []Role{Operator}},
	{Permission: Transfer, Does: "export and import", Roles: []Role{Operator}},
	{Permission: Backups, Does: "download a backup of everything, of all tenants", Roles: []Role{Backup}},
	{Permission: Usage, Does: "read what apps use: runs, processor time, bytes; with the role metering, of all tenants", Roles: []Role{Operator, ReadOnly, Metering}},
	{Permission: Code, Does: "run code that comes with the request", Roles: []Role{Operator}, WithCode: []Role{Runtime}},
}

// allowed reports whether a role has a right, by itself or with leave to run code.
func allowed(role Role, code bool, permission Permission) bool {
	for _, rule := range Table {
		if rule.Permission == permission {
			return slices.Contains(rule.Roles, role) || code && slices.Contains(rule.WithCode, role)
		}
	}
	return false
}

// Markdown renders Table for a page of documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| right | allows to |")
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
		return "if the key says so"
	}
	return "-"
}
