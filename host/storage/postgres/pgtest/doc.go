// Package pgtest starts a private PostgreSQL cluster for tests.
package pgtest
