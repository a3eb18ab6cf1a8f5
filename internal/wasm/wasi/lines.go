package wasi

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// MaxLine is the maximum length in bytes of a line that is passed to Config.Log. Longer lines are
// split.
const MaxLine = 8 << 10

// print sends the complete lines in text to the log and keeps the incomplete last line. The first
// line begins with the bytes that the previous call has kept.
func (s *System) print(ctx context.Context, stream int, text []byte) {
	if s.log == nil {
		return
	}
	for len(text) > 0 {
		room := MaxLine - len(s.pending[stream])
		end := bytes.IndexByte(text[:min(len(text), room+1)], '\n')
		switch {
		case end >= 0:
			s.emit(ctx, stream, text[:end])
			text = text[end+1:]
		case len(text) <= room:
			s.pending[stream] = append(s.pending[stream], text...)
			return
		default:
			text = text[s.emitPart(ctx, stream, text[:room]):]
		}
	}
}

// emit sends a line that consists of the pending bytes and end.
func (s *System) emit(ctx context.Context, stream int, end []byte) {
	line := end
	if pending := s.pending[stream]; len(pending) > 0 {
		line = append(pending, end...)
		s.pending[stream] = line[:0]
	}
	s.send(ctx, stream, line)
}

// emitPart sends up to MaxLine bytes of a longer line without splitting a character. emitPart
// returns the number of bytes that it has consumed from the argument "more".
func (s *System) emitPart(ctx context.Context, stream int, more []byte) int {
	pending := s.pending[stream]
	if len(pending) == 0 {
		n := wholeCharacters(more)
		s.send(ctx, stream, more[:n])
		return n
	}
	part := append(pending, more...)
	n := wholeCharacters(part)
	s.send(ctx, stream, part[:n])
	s.pending[stream] = part[:copy(part, part[n:])]
	return len(more)
}

// send writes a line to the log. send checks the context for each line, because a guest can print
// gigabytes in one call by listing the same buffer many times.
func (s *System) send(ctx context.Context, stream int, line []byte) {
	s.checkEnd(ctx)
	if s.err == nil {
		s.err = s.log(stream, line)
	}
	if s.err != nil {
		s.stop(s.err)
	}
}

// wholeCharacters returns the length of b without an incomplete UTF-8 character at its end.
func wholeCharacters(b []byte) int {
	for at := len(b) - 1; at >= 0 && at >= len(b)-utf8.UTFMax; at-- {
		if !utf8.RuneStart(b[at]) {
			continue
		}
		if utf8.FullRune(b[at:]) {
			break
		}
		return at
	}
	return len(b)
}

// Flush sends the last line of each stream if the line has no newline. Flush must be called after
// the guest has ended for any reason. Flush returns the error of Config.Log. If an error stopped
// the guest earlier, Flush sends nothing and returns the earlier error.
func (s *System) Flush() error {
	for stream, rest := range s.pending {
		if s.err == nil && len(rest) > 0 {
			s.err = s.log(stream, rest)
		}
		s.pending[stream] = nil
	}
	return s.err
}
