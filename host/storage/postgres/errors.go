package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolrun/toolrun/host/storage"
)

// SQLSTATE codes, or the classes that they begin with.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	completionUnknown    = "40003"
	diskFull             = "53100"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"
)

// sqlState returns the code of an error that the server reported, or "".
func sqlState(err error) string {
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		return reported.Code
	}
	return ""
}

// conflicts reports whether a transaction was rolled back because of others, and may be tried
// again.
func conflicts(err error) bool {
	code := sqlState(err)
	return code == serializationFailure || code == deadlockDetected
}

// failure returns the error that a caller gets for the error of a transaction.
func (b *Backend) failure(ctx context.Context, err error) error {
	switch code := sqlState(err); {
	case err == nil || errors.Is(err, storage.ErrUnknownOutcome):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case b.closed.Load() && code == "":
		return storage.ErrClosed
	case code == diskFull:
		return fmt.Errorf("PostgreSQL: %w: %w", storage.ErrFull, err)
	case code == dataCorrupted, code == indexCorrupted:
		return fmt.Errorf("PostgreSQL: %w: %w", storage.ErrCorrupt, err)
	}
	return fmt.Errorf("PostgreSQL: %w", err)
}

// rolledBack reports whether err, of the batch that ends with COMMIT, proves that nothing was
// committed: the server rejected one of the statements, or received none of them.
func rolledBack(err error) bool {
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		// A FATAL error closes the connection; the statements before it may have been committed.
		return reported.SeverityUnlocalized == "ERROR" && reported.Code != completionUnknown
	}
	return pgconn.SafeToRetry(err)
}
