package toolrun

import (
	"strconv"
	"time"
)

// Option is an option of a memory call. A call with an option that its operation does not accept
// fails with abi.InvalidArgument.
type Option func(*request)

// request contains the options of a call.
type request struct {
	projection any
	options    map[string]any
}

// Project selects the parts of the content to read. For example, {"name": 1, "address.city": 1}
// selects only the parts name and address.city, and {"notes": 0} selects all parts except notes.
func Project(projection any) Option {
	return func(r *request) { r.projection = projection }
}

// Replace replaces the content with the value instead of merging the value into it.
func Replace() Option { return set("replace", true) }

// IfRevision makes the call fail with abi.Conflict unless the record has the given revision. If the
// revision is 0, the record must not exist. A run is a transaction, so a revision that was read in
// the same run needs no check. Use IfRevision with a revision that an earlier run has read, such as
// a revision in its output.
func IfRevision(revision int64) Option { return set("if_revision", revision) }

// TTL sets the time from the write to the expiry of the record, in whole seconds. TTL cannot exceed
// the store's retention.
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

// optionsOrNil returns nil if no options are set. If a nil map were stored in the interface value,
// its comparison with nil would be false.
func (r *request) optionsOrNil() any {
	if r.options == nil {
		return nil
	}
	return r.options
}
