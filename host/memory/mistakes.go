package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Mistakes returns what the schema of a store seems to check and does not; see schema.Schema.Mistakes. The error is that
// of a schema that does not compile.
func Mistakes(st declare.Store) (schema.Errors, error) {
	if st.Schema == nil {
		return nil, nil
	}
	compiled, err := schema.Compile(st.Schema, schema.Options{Strict: st.Strict})
	if err != nil {
		return nil, err
	}
	return compiled.Mistakes(), nil
}

// CheckStrict refuses a strict store whose schema has mistakes. A declaration that is new is held to that; one that is kept
// is opened as it is.
func CheckStrict(st declare.Store) error {
	if !st.Strict {
		return nil
	}
	mistakes, err := Mistakes(st)
	mistakes = slices.DeleteFunc(mistakes, func(e *schema.Error) bool { return e.Harmless })
	if err != nil || len(mistakes) == 0 {
		return err
	}
	f := abi.Faultf(abi.InvalidArgument, "the schema of the strict store %q has mistakes: %v", st.Name, mistakes)
	if hint := mistakes[0].Hint; hint != "" {
		return f.WithHint("%s", hint)
	}
	return f
}

// The bounds of Unfit.
const (
	unfitRecords = 10_000
	unfitBytes   = 32 << 20
)

// Unfit counts the records of a store in a tenant that do not fit a declaration. It looks at 10,000 records of the app at
// most, and at 32 MiB; all reports whether these were all.
func (s *Service) Unfit(ctx context.Context, tenant string, decl declare.Store) (unfit int, all bool, err error) {
	st, err := compileStore(decl)
	if err != nil {
		return 0, false, abi.Faultf(abi.InvalidArgument, "the store %q: %v", decl.Name, err)
	}
	records, bytes := 0, 0
	err = s.records.Scan(ctx, s.app.Group(partition.Caller{Tenant: tenant}), func(chunk []storage.Record) error {
		for _, r := range chunk {
			if records++; records > unfitRecords || bytes > unfitBytes {
				return errEnough
			}
			if r.Key.Part(storage.Store) != decl.Name || !s.now().Before(s.endOf(st, r)) {
				continue
			}
			bytes += len(r.Content)
			if !st.fits(r) {
				unfit++
			}
		}
		return ctx.Err()
	})
	if errors.Is(err, errEnough) {
		return unfit, false, nil
	}
	return unfit, true, s.records.Fault("look at records", err)
}

var errEnough = errors.New("enough")
