package cli

import (
	"context"
	"errors"
	"log/slog"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// backupOf returns a function that writes a backup of the database. If the database is not a file,
// backupOf returns nil.
func backupOf(b storage.Backend, logger *slog.Logger) func(context.Context) (httpapi.Backup, error) {
	file, ok := b.(*bolt.Backend)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (httpapi.Backup, error) {
		copied, err := file.Copy(ctx)
		switch {
		case err == nil:
			return copied, nil
		case errors.Is(err, storage.ErrFull):
			return nil, abi.Faultf(abi.QuotaExceeded, "the disk of the service has no space for a copy of the database")
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		logger.Error("cannot back up the database", "error", err)
		return nil, abi.Faultf(abi.Unavailable, "cannot back up the database").WithHint("see the log of the service")
	}
}
