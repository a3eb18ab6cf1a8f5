package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// anyRecord is the If-Match value that any existing record satisfies.
const anyRecord = "*"

// maxAnyTries bounds the attempts of a write with If-Match: * while others change the record.
const maxAnyTries = 16

// withPrecondition performs a write with its precondition in options.
func (c *call) withPrecondition(ctx context.Context, in apitypes.Place, must apitypes.Precondition, options map[string]any, write func() error) error {
	if must.IfMatch == anyRecord && must.IfNoneMatch == "" {
		return c.withAnyRevision(ctx, in, options, write)
	}
	revision, err := revisionOf(must)
	if err != nil {
		return err
	}
	if revision != nil {
		options["if_revision"] = *revision
	}
	return preconditionFailed(must, write())
}

// withAnyRevision performs a write if the record exists, at its current revision.
func (c *call) withAnyRevision(ctx context.Context, in apitypes.Place, options map[string]any, write func() error) error {
	for try := 1; ; try++ {
		text, err := c.operate(ctx, in, abi.GetContent, nil, map[string]bool{"record": true})
		if err != nil {
			return err
		}
		found, err := recordOf(text)
		if err != nil {
			f := abi.Faultf(abi.Conflict, "the record does not exist").WithHint("omit If-Match to create it")
			return problemOfFault(f, http.StatusPreconditionFailed)
		}
		options["if_revision"] = found.Body.Revision
		if err := write(); !errors.Is(err, abi.Conflict) || try == maxAnyTries {
			return err
		}
	}
}

// revisionOf returns the revision that a record must have: nil for any, 0 for no record.
func revisionOf(p apitypes.Precondition) (*int64, error) {
	none := int64(0)
	switch {
	case p.IfMatch == "" && p.IfNoneMatch == "":
		return nil, nil
	case p.IfMatch != "" && p.IfNoneMatch != "":
		return nil, abi.Faultf(abi.InvalidArgument, "If-Match and If-None-Match contradict each other")
	case p.IfNoneMatch == "*":
		return &none, nil
	}
	n, err := strconv.ParseInt(strings.Trim(p.IfMatch, `"`), 10, 64)
	if err != nil || n < 1 || p.IfMatch != strconv.Quote(strconv.FormatInt(n, 10)) {
		return nil, abi.Faultf(abi.InvalidArgument, "If-Match must be one ETag of a record, such as \"3\", or *")
	}
	return &n, nil
}

// preconditionFailed maps a conflict of a write with a precondition to the status 412.
func preconditionFailed(p apitypes.Precondition, err error) error {
	if err == nil || p.IfMatch == "" && p.IfNoneMatch == "" {
		return err
	}
	f := abi.FaultOf(err)
	if f.Code != abi.Conflict {
		return err
	}
	hint := "read the record again and send its ETag in If-Match"
	if p.IfNoneMatch != "" {
		hint = "the record exists: read it and send its ETag in If-Match"
	}
	return problemOfFault(f.WithHint("%s", hint), http.StatusPreconditionFailed)
}
