package toolrun

import (
	"strconv"
	"time"
)

// Option is an option of a memory call. A call with an option that its operation does not accept
// fails with abi.InvalidArgument.
type Option func(*request)

// request is the set of options of a call.
type request struct {
	projection any
	options    map[string]any
}

// Project reads only a part of the content: map[string]any{"name": 1, "address.city": 1} includes
// these parts, and {"notes": 0} omits one.
func Project(projection any) Option {
	return func(r *request) { r.projection = projection }
}

// Replace stores the value unchanged, instead of merging it into the content.
func Replace() Option { return set("replace", true) }

// IfRevision makes the call fail with abi.Conflict unless the record has this revision; 0 means
// that the record must not exist. Within a run it is not necessary, since a run is a transaction.
// It is for revisions that left the run, such as one in an earlier output.
func IfRevision(revision int64) Option { return set("if_revision", revision) }

// TTL sets the time after which the record expires, in whole seconds since the write. It can only
// shorten the store's retention.
func TTL(after time.Duration) Option {
	return set("ttl", strconv.FormatInt(int64(after/time.Second), 10)+"s")
}

func set(name string, value any) Option {
	return func(r *request) {
		if r.options == nil {
			r.options = map[string]any{}
		}
		r.options[name] = value
	}
}

func newRequest(options []Option) *request {
	var r request
	for _, o := range options {
		o(&r)
	}
	return &r
}

// optionsOrNil returns nil if there are no options. A nil map in an interface would not be nil.
func (r *request) optionsOrNil() any {
	if r.options == nil {
		return nil
	}
	return r.options
}
