package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

const (
	defaultSchema = "toolrun"
	defaultConns  = 16
)

var _ storage.Backend = (*Backend)(nil)

// Backend is a storage backend with a pool of connections to a database. Backend is safe for
// concurrent use.
type Backend struct {
	pool *pgxpool.Pool
	// writers is a semaphore with one token for each connection. An update takes one token. After
	// several conflicts, the update takes all tokens.
	writers *semaphore.Weighted
	conns   int64
	closed  atomic.Bool
	close   func() // the first call closes the pool
	clock   serverClock
}

// Open connects to the database and creates the tables if they are missing. The connection string
// is a URL or keywords and values, as for libpq. The parameter pool_max_conns of the connection
// string is the maximum number of connections. The default of pool_max_conns is 16. The parameter
// search_path of the connection string is the schema of the tables. The default of search_path is
// "toolrun".
func Open(ctx context.Context, dsn string) (*Backend, error) {
	config, schema, err := configure(dsn)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	err = pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return createTables(ctx, c.Conn(), schema) })
	if err != nil {
		pool.Close()
		return nil, err
	}
	conns := int64(config.MaxConns)
	b := &Backend{pool: pool, writers: semaphore.NewWeighted(conns), conns: conns}
	b.clock.local = time.Now
	if err := b.clock.measure(ctx, b.serverTime); err != nil {
		pool.Close()
		return nil, fmt.Errorf("read the clock of PostgreSQL: %w", err)
	}
	keeping, stop := context.WithCancel(context.Background())
	var keeper sync.WaitGroup
	keeper.Go(func() { b.keepTime(keeping) })
	b.close = sync.OnceFunc(func() {
		stop()
		keeper.Wait()
		pool.Close()
	})
	return b, nil
}

var schemaName = lazyregexp.New(`^[a-z_][a-z0-9_]{0,62}$`)

// configure returns the configuration of the connection pool and the name of the schema.
func configure(dsn string) (*pgxpool.Config, string, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, "", err
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = defaultConns
	}
	params := config.ConnConfig.RuntimeParams
	schema := params["search_path"]
	if schema == "" {
		schema = defaultSchema
	}
	if !schemaName().MatchString(schema) {
		return nil, "", fmt.Errorf("search_path %q is not a single schema name in lower case", schema)
	}
	params["search_path"] = schema
	params["application_name"] = "toolrun"
	// A statement without a preceding BEGIN is a separate read transaction.
	params["default_transaction_isolation"] = "serializable"
	params["default_transaction_read_only"] = "on"
	// A sequential scan of a small table would conflict with every writer. Sequential scans are not
	// needed: every statement can use an index. The query plans do not depend on the arguments.
	params["enable_seqscan"] = "off"
	params["plan_cache_mode"] = "force_generic_plan"
	// If a process hangs during an update, the server ends the idle transaction after a minute and
	// releases the locks of the update. Other commits that wait for these locks fail after
	// lock_timeout. Because lock_timeout is shorter than commitTimeout, the outcome of these
	// commits is known.
	params["idle_in_transaction_session_timeout"] = "60s"
	params["lock_timeout"] = "10s"
	return config, schema, nil
}

// Close implements storage.Backend.
func (b *Backend) Close() error {
	b.closed.Store(true)
	b.close()
	return nil
}
