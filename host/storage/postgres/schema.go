package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// format is the version of the tables, and of the contents of the records; see the format of the
// package bolt.
const format = 4

// ddl creates the tables. Keys, tags and ids are bytea, because text cannot contain NUL or invalid
// UTF-8, and because keys must compare as bytes. Times are in microseconds since 1970.
//
// The column tags contains the tags of a record, and the table tags is the index of all tags. The
// usage of an account is stored in several rows, which are called shards. Readers add up the
// shards. With a single row, all commits of an app would update the same row.
var ddl = []string{
	`create table if not exists meta (single boolean primary key default true check (single), format integer not null, forgotten bigint not null default 0)`,
	fmt.Sprintf(`insert into meta (format) values (%d) on conflict do nothing`, format),
	`create table if not exists records (
		key bytea primary key,
		tenant bytea not null,
		app bytea not null,
		store bytea not null,
		revision bigint not null check (revision > 0),
		generation bytea not null,
		created bigint,
		updated bigint,
		expires bigint,
		run bytea not null,
		tags bytea[] not null,
		content bytea not null)`,
	`create index if not exists records_expires on records (expires, key) where expires is not null`,
	`create index if not exists records_app_expires on records (tenant, app, expires, key) where expires is not null`,
	`create table if not exists tags (tag bytea, key bytea, primary key (tag, key))`,
	`create table if not exists usage (
		account bytea, shard integer, records bigint not null, bytes bigint not null, primary key (account, shard))`,
	`create table if not exists floors (key bytea primary key, revision bigint not null)`,
	`create table if not exists changes (
		xid bigint, n integer, at timestamptz not null default now(), key bytea not null, revision bigint not null,
		generation bytea not null, deleted boolean not null, primary key (xid, n))`,
	// If the tables were restored from another cluster, the stored transaction ids have no meaning
	// in this cluster.
	`delete from changes where xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`,
}

// createTables creates the schema and its tables if they are missing. createTables rejects tables
// of another format.
func createTables(ctx context.Context, conn *pgx.Conn, schema string) error {
	statements := append([]string{
		`begin isolation level read committed read write`,
		// This lock serializes the CREATE statements. Even with IF NOT EXISTS, concurrent CREATE
		// statements can conflict in the catalog.
		`select pg_advisory_xact_lock(hashtextextended('toolrun tables', 0))`,
		`create schema if not exists ` + schema,
	}, ddl...)
	// With the simple query protocol, one round trip can contain several statements that depend on
	// each other.
	if _, err := conn.PgConn().Exec(ctx, strings.Join(append(statements, `commit`), ";")).ReadAll(); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	found := 0
	if err := conn.QueryRow(ctx, `select format from meta`).Scan(&found); err != nil {
		return fmt.Errorf("read table format: %w", err)
	}
	if found != format {
		return fmt.Errorf("the tables in schema %s have format %d, but this version requires format %d: use an empty schema", schema, found, format)
	}
	return nil
}
