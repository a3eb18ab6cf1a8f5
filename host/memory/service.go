package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory/collection"
	"github.com/toolrun/toolrun/host/memory/document"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// Config configures a Service. The fields App and Backend are required. If another field has the
// zero value, its default applies.
type Config struct {
	// App is the id of the app. The id is unique within a tenant.
	App     string
	Backend storage.Backend
	Stores  []declare.Store
	// Kinds contains additional kinds of stores. The built-in kinds are documents, facts, blocks,
	// collections and the state of agents. Default: none.
	Kinds  []kind.Kind
	Limits Limits
	// If AutoCollections is true, tools can use undeclared collections; see
	// declare.Collection.Auto.
	AutoCollections bool
	// Index contains the search indexes of collections. All Services of a process should share one
	// Index, because an Index limits the total memory of its search indexes. By default, the
	// Service creates an Index.
	Index *index.Set
	// Embedder computes the vectors of collections. If a View has an embedder from SetEmbedder, the
	// View does not use this field. Embedder must be safe for concurrent use. By default, the only
	// model of the embedder is declare.Lexical.
	Embedder kind.Embedder
	// SessionIdle is the time after which a sweep ends an unused session. The sweep can end the
	// session later. The delay is at most an eighth of SessionIdle. Default: 24 hours.
	SessionIdle time.Duration
	// WorkflowIdle is the time after which a sweep ends an unused workflow. The sweep can end the
	// workflow later. The delay is at most an eighth of WorkflowIdle. Default: 24 hours.
	WorkflowIdle time.Duration
	// BeforeIdleEnd is a function that a sweep calls before it ends an idle session; see
	// session.BeforeEnd. The function itself can end the session with a transaction that sets
	// Tx.EndIdle. BeforeIdleEnd can be nil.
	BeforeIdleEnd session.BeforeEnd
	// ApprovalExpired is called after a sweep has ended an approval request that expired without a
	// decision. ApprovalExpired must return quickly. ApprovalExpired can be nil.
	ApprovalExpired func(context.Context, partition.Caller, approval.Approval)
	// KeyRetention applies to runs with an idempotency key. KeyRetention is the time for which the
	// Result of such a run is stored. Default: 24 hours.
	KeyRetention time.Duration
	// LedgerRetention is the time for which ledger entries are stored. By default, ledger entries
	// are not stored.
	LedgerRetention time.Duration
	// MeteringRetention is the time for which a metering.Meter keeps the usage of a day. By
	// default, usage is not stored.
	MeteringRetention time.Duration
	// FileURL is a function that returns the download URL of a file. The download URL is valid
	// until File.Expires. The store sessionMeta contains the download URL. By default, files have
	// no URL.
	FileURL func(tenant string, file artifact.Artifact) string
	// Now is the clock, and Rand is the source of randomness. Both Now and Rand must be safe for
	// concurrent use. By default, the clock and the random source of the operating system are used.
	Now  func() time.Time
	Rand io.Reader
	// Logger receives details that callers must not see. Examples are errors of the backend. By
	// default, these details are discarded.
	Logger *slog.Logger
}

// Limits contains limits on the stored data of an app. The zero value of a field selects the
// default of the field. New rejects negative values.
type Limits struct {
	// RecordBytes is the maximum size of the content of a record. The size is the length of the
	// JSON text. RecordBytes must not exceed storage.MaxContentBytes. Default: 256 KiB.
	RecordBytes int
	// Depth is the maximum nesting of arrays and objects in a content. Default: 32.
	Depth int
	// Keys is the maximum number of members of an object in a content. Default: 1,000.
	Keys int
	// Values is the maximum number of values in a content. Nested values also count. A decoded
	// content uses about a hundred bytes of memory for each value. Default: 100,000.
	Values int
	// Stores is the maximum number of stores of an app. Default: 15.
	Stores int
	// AppBytes is the maximum total size of the data of an app in one tenant. The data consist of
	// the records of stores, uploaded files with their texts, sessions with their metadata, and
	// stored Results. The ledger has a separate limit. Default: 1 GiB.
	//
	// AppRecords is the maximum total number of records in the stores of the app. Default:
	// 1,000,000.
	AppBytes   int64
	AppRecords int64
	// UserBytes and UserRecords are the same limits for one user of the app. The default of
	// UserBytes is an eighth of AppBytes, but at least 1 MiB. The default of UserRecords is an
	// eighth of AppRecords, but at least 1,000. A default never exceeds the corresponding limit of
	// the app.
	UserBytes   int64
	UserRecords int64
	// LedgerBytes is the maximum size of the ledger of a tenant. If the ledger exceeds LedgerBytes,
	// a sweep removes the oldest entries. Default: 1 GiB.
	LedgerBytes int64
}

func (l Limits) check() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"RecordBytes", int64(l.RecordBytes)}, {"Depth", int64(l.Depth)}, {"Keys", int64(l.Keys)}, {"Values", int64(l.Values)},
		{"Stores", int64(l.Stores)}, {"AppBytes", l.AppBytes}, {"AppRecords", l.AppRecords},
		{"UserBytes", l.UserBytes}, {"UserRecords", l.UserRecords},
		{"LedgerBytes", l.LedgerBytes},
	} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("memory: Limits.%s is negative; 0 means the default", field.name))
		}
	}
	if l.RecordBytes > storage.MaxContentBytes {
		errs = append(errs, fmt.Errorf("memory: Limits.RecordBytes is %d; the maximum is %d", l.RecordBytes, storage.MaxContentBytes))
	}
	return errors.Join(errs...)
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.RecordBytes, 256<<10)
	setDefault(&l.Depth, 32)
	setDefault(&l.Keys, 1000)
	setDefault(&l.Values, 100_000)
	setDefault(&l.Stores, 15)
	setDefault(&l.AppBytes, 1<<30)
	setDefault(&l.AppRecords, 1_000_000)
	setDefault(&l.UserBytes, min(l.AppBytes, max(l.AppBytes/8, 1<<20)))
	setDefault(&l.LedgerBytes, 1<<30)
	setDefault(&l.UserRecords, min(l.AppRecords, max(l.AppRecords/8, 1000)))
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// A Service provides the memory of one app in all tenants. Service is safe for concurrent use.
type Service struct {
	app     partition.App
	kinds   *kinds
	backend storage.Backend
	records *records.DB // reads and writes host records
	stores  map[string]*store
	names   []string // the names of the stores in the order of their declaration
	meta    *store   // sessionMeta
	shared  bool     // whether all apps of a tenant share a block
	// autoCollections reports whether the app can have undeclared collections.
	autoCollections bool
	embedder        kind.Embedder
	index           *index.Set
	limits          Limits
	keyRetention    time.Duration

	sessions  *session.Sessions
	workflows *session.Workflows
	artifacts *artifact.Artifacts
	approvals *approval.Approvals
	ledger    *ledger.Ledger
	meter     *metering.Meter
	// beforeIdleEnd is Config.BeforeIdleEnd.
	beforeIdleEnd session.BeforeEnd
	// onExpired is Config.ApprovalExpired.
	onExpired func(context.Context, partition.Caller, approval.Approval)

	clock func() time.Time
	began time.Time // the time at which the Service was created
	rand  io.Reader
	log   *slog.Logger
	db    *txn.DB
}

// content returns the limits on the content of a record.
func (l Limits) content() kind.Limits {
	return kind.Limits{Bytes: l.RecordBytes, Depth: l.Depth, Keys: l.Keys, Values: l.Values}
}

// store contains a declaration and its compiled form.
type store struct {
	declare.Store
	compiled kind.Store
	// dated is true if the compiled store implements kind.Dated.
	dated bool
}

// New returns a Service. New checks the whole configuration. The returned error lists all mistakes.
func New(cfg Config) (*Service, error) {
	s := &Service{
		app: partition.App(cfg.App), backend: cfg.Backend, stores: make(map[string]*store, len(cfg.Stores)),
		limits: cfg.Limits.withDefaults(), keyRetention: cfg.KeyRetention, beforeIdleEnd: cfg.BeforeIdleEnd, onExpired: cfg.ApprovalExpired,
		clock: cfg.Now, rand: cfg.Rand, log: cfg.Logger, autoCollections: cfg.AutoCollections, embedder: cfg.Embedder,
	}
	if s.embedder == nil {
		s.embedder = lexicalEmbedder{}
	}
	if s.index = cfg.Index; s.index == nil {
		s.index = index.New(cfg.Backend, index.Options{})
	}
	setDefault(&cfg.SessionIdle, 24*time.Hour)
	setDefault(&cfg.WorkflowIdle, 24*time.Hour)
	setDefault(&s.keyRetention, 24*time.Hour)
	if s.clock == nil {
		s.clock = storage.ClockOf(cfg.Backend)
	}
	s.began = s.clock()
	if s.rand == nil {
		s.rand = rand.Reader
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.db = txn.New(txn.Config{Backend: cfg.Backend, Now: s.clock, Rand: s.rand})
	s.connect(cfg)
	return s, errors.Join(checkConfig(cfg), s.addKinds(cfg.Kinds), s.addStores(cfg.Stores))
}

// connect creates the parts of the Service that manage host records.
func (s *Service) connect(cfg Config) {
	s.records = records.New(records.Config{
		App: s.app, Backend: cfg.Backend, Lock: s.db.Lock, Quota: s.quota, Now: s.clock, Logger: s.log,
	})
	s.ledger = ledger.New(s.records, ledger.Config{
		Retention: cfg.LedgerRetention, MaxBytes: s.limits.LedgerBytes, Redact: redact(s.stores),
	})
	s.sessions = session.New(s.records, session.Config{
		Idle: cfg.SessionIdle, NamedFor: cfg.LedgerRetention, Metadata: metadata{s},
	})
	s.workflows = session.NewWorkflows(s.records, session.WorkflowConfig{Idle: cfg.WorkflowIdle, NamedFor: cfg.LedgerRetention})
	s.artifacts = artifact.New(s.records, s.sessions, cfg.FileURL)
	s.approvals = approval.New(s.records)
	s.meter = metering.New(s.records, cfg.MeteringRetention)
}

// addKinds creates the registry of kinds. addKinds also creates the store sessionMeta. The host
// generates the only document in sessionMeta.
func (s *Service) addKinds(more []kind.Kind) error {
	registry, err := newKinds(more, collection.Kind{Index: s.index})
	s.kinds = registry
	meta := declare.Store{Name: declare.SessionMeta, Kind: declare.KindDocument, Access: declare.ScopeSession}
	compiled, metaErr := document.Kind{}.Compile(meta, s.limits.content())
	s.meta = &store{Store: meta, compiled: compiled}
	return errors.Join(err, metaErr)
}

// Operations returns the operation table of all kinds. The caller must not modify the returned
// table.
func (s *Service) Operations() abi.Table { return s.kinds.table }

func checkConfig(cfg Config) error {
	var errs []error
	if cfg.App == "" {
		errs = append(errs, errors.New("memory: Config.App is empty"))
	}
	if cfg.Backend == nil {
		errs = append(errs, errors.New("memory: Config.Backend is nil"))
	}
	if cfg.SessionIdle < 0 || cfg.WorkflowIdle < 0 || cfg.KeyRetention < 0 || cfg.LedgerRetention < 0 || cfg.MeteringRetention < 0 {
		errs = append(errs, errors.New("memory: a duration in Config is negative"))
	}
	errs = append(errs, cfg.Limits.check())
	return errors.Join(errs...)
}

func (s *Service) addStores(stores []declare.Store) error {
	var errs []error
	if n := countDeclared(stores); n > s.limits.Stores {
		errs = append(errs, fmt.Errorf("memory: the app has %d stores; the limit is %d", n, s.limits.Stores))
	}
	folded := map[string]bool{}
	for _, decl := range stores {
		st, err := s.kinds.compile(decl, s.limits.content())
		if err == nil && folded[strings.ToLower(decl.Name)] {
			err = errors.New("another store has the same name, ignoring case")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("memory: store %q: %w", decl.Name, err))
			continue
		}
		folded[strings.ToLower(decl.Name)] = true
		s.stores[decl.Name] = st
		s.names = append(s.names, decl.Name)
		s.shared = s.shared || decl.Block.Shared
	}
	return errors.Join(errs...)
}

// countDeclared counts stores but omits built-in stores and blocks.
func countDeclared(stores []declare.Store) int {
	n := 0
	for _, st := range stores {
		if !builtIn(st) {
			n++
		}
	}
	return n
}

// Stores returns the declarations of the stores in the order of the configuration.
func (s *Service) Stores() []declare.Store {
	all := make([]declare.Store, len(s.names))
	for i, name := range s.names {
		all[i] = s.stores[name].Store
	}
	return all
}

// Sessions returns the sessions of the app.
func (s *Service) Sessions() *session.Sessions { return s.sessions }

// Workflows returns the workflows of the app.
func (s *Service) Workflows() *session.Workflows { return s.workflows }

// Artifacts returns the files that were uploaded to the sessions of the app.
func (s *Service) Artifacts() *artifact.Artifacts { return s.artifacts }

// Ledger returns the ledger of the app.
func (s *Service) Ledger() *ledger.Ledger { return s.ledger }

// Meter returns the recorded usage of the runs of the app.
func (s *Service) Meter() *metering.Meter { return s.meter }

// The method "now" returns the current time with the precision of stored records.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }
