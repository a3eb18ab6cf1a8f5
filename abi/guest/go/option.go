package toolrun

import (
	"strconv"
	"time"
)

// Option is what a call of memory may be given beside its arguments. One that the operation does not take is
// abi.InvalidArgument.
type Option func(*request)

// request is what the options of a call come to.
type request struct {
	projection any
	options    map[string]any
}

// Project asks for a part of the content: map[string]any{"name": 1, "address.city": 1} includes these,
// {"notes": 0} leaves them out.
func Project(projection any) Option {
	return func(r *request) { r.projection = projection }
}

// Replace stores the value as it is given, in place of the content and not merged into it.
func Replace() Option { return set("replace", true) }

// IfRevision makes the call fail with abi.Conflict unless the record has this revision; 0 says that there must be
// no record. A run is a transaction without it: this is for a revision that was told to somebody.
func IfRevision(revision int64) Option { return set("if_revision", revision) }

// TTL has the record expire this long after the write, in whole seconds. It can only shorten the store's retention.
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

func ask(options []Option) *request {
	var r request
	for _, o := range options {
		o(&r)
	}
	return &r
}

// optionsOrNil is nil where there are none, which a nil map in an interface is not.
func (r *request) optionsOrNil() any {
	if r.options == nil {
		return nil
	}
	return r.options
}
