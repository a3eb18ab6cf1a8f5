package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// anyRecord is the If-Match value that matches any existing record.
const anyRecord = "*"

// maxAnyTries is the maximum number of times that a write with "If-Match: *" is tried. The write is
// tried again if another writer changes the record during the write.
const maxAnyTries = 16

// withPrecondition performs a write with the precondition in options. The function current returns
// the revision of the record, or nil if no record exists.
func withPrecondition(must apitypes.Precondition, options map[string]any, current func() (*int64, error), write func() error) error {
	if must.IfMatch == anyRecord && must.IfNoneMatch == "" {
		return withAnyRevision(options, current, write)
	}
	revision, err := revisionOf(must)
	if err != nil {
		return err
	}
	if revision != nil {
		options["if_revision"] = *revision
	}
	return preconditionFailed(must, "record", write())
}

// withAnyRevision performs a write if the record exists. The precondition of the write is the
// current revision of the record.
func withAnyRevision(options map[string]any, current func() (*int64, error), write func() error) error {
	for try := 1; ; try++ {
		revision, err := current()
		if err != nil {
			return err
		}
		if revision == nil {
			f := abi.Faultf(abi.Conflict, "the record does not exist").WithHint("omit If-Match to create the record")
			return problemOfFault(f, http.StatusPreconditionFailed)
		}
		options["if_revision"] = *revision
		if err := write(); !errors.Is(err, abi.Conflict) || try == maxAnyTries {
			return err
		}
	}
}

// revisionOf returns the revision that a precondition requires. revisionOf returns nil if any
// revision is accepted, and 0 if the record must not exist.
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

// preconditionFailed returns status 412 if the precondition of a write caused a conflict. The
// argument "what" is a noun for the written object.
func preconditionFailed(p apitypes.Precondition, what string, err error) error {
	if err == nil || p.IfMatch == "" && p.IfNoneMatch == "" {
		return err
	}
	f := abi.FaultOf(err)
	if f.Code != abi.Conflict {
		return err
	}
	hint := "read the %s again and send its ETag in If-Match"
	if p.IfNoneMatch != "" {
		hint = "the %s exists: read it and send its ETag in If-Match"
	}
	return problemOfFault(f.WithHint(hint, what), http.StatusPreconditionFailed)
}
