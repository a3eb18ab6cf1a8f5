package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolrun/toolrun/host/storage"
)

func TestFailure(t *testing.T) {
	var b Backend
	for _, test := range []struct {
		code string
		want error
	}{
		{diskFull, storage.ErrFull}, {dataCorrupted, storage.ErrCorrupt}, {indexCorrupted, storage.ErrCorrupt},
	} {
		if err := b.failure(context.Background(), &pgconn.PgError{Code: test.code}); !errors.Is(err, test.want) {
			t.Errorf("%s is %v; want %v", test.code, err, test.want)
		}
	}
}

func TestRolledBack(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"conflict", &pgconn.PgError{SeverityUnlocalized: "ERROR", Code: serializationFailure}, true},
		{"shutdown", &pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
		{"unknown to the server", &pgconn.PgError{SeverityUnlocalized: "ERROR", Code: completionUnknown}, false},
		{"lost connection", errors.New("EOF"), false},
	} {
		if got := rolledBack(test.err); got != test.want {
			t.Errorf("rolledBack(%s) = %v; want %v", test.name, got, test.want)
		}
	}
}
