package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
)

// formatVersion is the first byte of an encoded journal.
const formatVersion = 1

// These are the flags of an encoded entry.
const (
	flagSafe  = 1
	flagFault = 2
)

// Encode returns the recorded calls as bytes, so that the run can be paused. If a call is in
// flight, Encode fails. Callers must therefore end the attempt before they call Encode. The bytes
// contain the answers to calls. These answers are data of the run's user.
//
// The number of attempts is not encoded. A pause is not a conflict. Like a new journal, a decoded
// journal therefore has no attempts yet.
func (j *Journal) Encode() ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return nil, errors.New("encode journal: the journal is full")
	}
	owner := sha256.Sum256([]byte(j.runKey))
	data := append([]byte{formatVersion}, owner[:]...)
	data = binary.AppendUvarint(data, uint64(len(j.entries)))
	all := j.ordered()
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.finished, b.finished) })
	for _, e := range all {
		if e.inFlight() {
			return nil, errors.New("encode journal: a call is in flight")
		}
		data = e.append(data)
	}
	return data, nil
}

func (e *entry) append(data []byte) []byte {
	flags, content := byte(0), e.answer
	if e.safe {
		flags |= flagSafe
	}
	if e.err != nil {
		flags |= flagFault
		content = e.encoded
	}
	data = append(data, flags)
	data = appendBytes(data, []byte(e.key.Kind))
	data = appendBytes(data, []byte(e.key.Target))
	data = append(data, e.key.Digest[:]...)
	data = binary.AppendUvarint(data, uint64(e.key.N))
	return appendBytes(data, content)
}

func appendBytes(data, b []byte) []byte {
	return append(binary.AppendUvarint(data, uint64(len(b))), b...)
}

// Decode returns the journal that Encode has encoded for the same run key. Decode keeps no
// reference to its argument.
func Decode(data []byte, runKey string, limits Limits) (*Journal, error) {
	j := New(runKey, limits)
	r := &reader{rest: data}
	if version := r.take(1); r.failed || version[0] != formatVersion {
		return nil, errors.New("decode journal: the version is unknown")
	}
	if owner := r.takeArray(); owner != sha256.Sum256([]byte(runKey)) {
		return nil, errors.New("decode journal: the journal belongs to another run")
	}
	count := r.length()
	for i := 0; i < count && !r.failed; i++ {
		if err := j.restore(r); err != nil {
			return nil, fmt.Errorf("decode journal: entry %d: %w", i+1, err)
		}
	}
	if r.failed || len(r.rest) > 0 {
		return nil, errors.New("decode journal: the journal is damaged")
	}
	return j, nil
}

// restore reads an encoded entry and adds the entry to the journal.
func (j *Journal) restore(r *reader) error {
	flags := r.take(1)
	e := &entry{order: j.started, finished: j.finished + 1, cancel: func() {}, done: make(chan struct{}), restored: true}
	close(e.done)
	e.key.Kind, e.key.Target = string(r.text()), string(r.text())
	e.key.Digest = r.takeArray()
	e.key.N = r.number()
	content := r.text()
	switch {
	case r.failed:
		return errors.New("the entry is incomplete")
	case flags[0] > flagSafe|flagFault || e.key.N == 0:
		return errors.New("the entry is malformed")
	case j.entries[e.key] != nil:
		return errors.New("duplicate key")
	}
	e.safe = flags[0]&flagSafe != 0
	if flags[0]&flagFault == 0 {
		e.answer = append([]byte{}, content...)
	} else if err := e.restoreFault(content); err != nil {
		return err
	}
	if j.recorded == j.limits.Entries || e.size() > j.limits.Bytes-j.bytes {
		return errors.New("the entry exceeds the journal's limits")
	}
	j.entries[e.key] = e
	j.started++
	j.finished++
	j.recorded++
	j.bytes += e.size()
	return nil
}

func (e *entry) restoreFault(content []byte) error {
	fault := &abi.Fault{}
	if err := json.Unmarshal(content, fault); err != nil || fault.Code.Number() == 0 {
		return errors.New("the fault is malformed")
	}
	e.err = fault
	e.encoded, _ = json.Marshal(fault) // a fault can always be encoded
	return nil
}

// reader reads an encoded journal. After a failure, the methods of reader return zero values.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n > len(r.rest) {
		r.failed = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) takeArray() (a [sha256.Size]byte) {
	copy(a[:], r.take(len(a)))
	return a
}

func (r *reader) number() int {
	v, n := binary.Uvarint(r.rest)
	const maxNumber = 1 << 31
	if r.failed || n <= 0 || v >= maxNumber {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// length reads a number. The number must not exceed the number of remaining bytes.
func (r *reader) length() int {
	n := r.number()
	if n > len(r.rest) {
		r.failed = true
		return 0
	}
	return n
}

func (r *reader) text() []byte { return r.take(r.length()) }
