package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolrun/toolrun/host/storage"
)

// The following constants are SQLSTATE codes, and prefixes of SQLSTATE codes. Each prefix selects a
// class of codes.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	completionUnknown    = "40003"
	diskFull             = "53100"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"
)

// sqlState returns the SQLSTATE code of an error. The result is "" if the error is not from the
// server.
func sqlState(err error) string {
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		return reported.Code
	}
	return ""
}

// conflicts reports whether other transactions caused the error, so that the transaction was rolled
// back and can be repeated.
func conflicts(err error) bool {
	code := sqlState(err)
	return code == serializationFailure || code == deadlockDetected
}

// failure converts the error of a transaction to the error for the caller.
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

// rolledBack reports whether the error of a batch that ends with COMMIT proves that nothing was
// committed. Nothing was committed if the server rejected a statement of the batch, or did not
// receive any statement.
func rolledBack(err error) bool {
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		// An error with the severity FATAL closes the connection. Statements that were executed
		// before a FATAL error may have been committed.
		return reported.SeverityUnlocalized == "ERROR" && reported.Code != completionUnknown
	}
	return pgconn.SafeToRetry(err)
}
