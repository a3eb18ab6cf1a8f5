package wasi

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// MaxLine is the longest line that Config.Log gets, in bytes. A longer one comes in several.
const MaxLine = 8 << 10

// print hands on the whole lines of text, after what was printed before, and keeps the rest.
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

// emit hands on a line: what is pending and its end.
func (s *System) emit(ctx context.Context, stream int, end []byte) {
	line := end
	if pending := s.pending[stream]; len(pending) > 0 {
		line = append(pending, end...)
		s.pending[stream] = line[:0]
	}
	s.send(ctx, stream, line)
}

// emitPart hands on MaxLine bytes of a line that is longer, or a few less where a character begins there. It
// returns how many bytes of more it used.
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

// send hands one line to the log. A guest prints gigabytes in one call by naming one buffer many times, so the
// context is looked at here.
func (s *System) send(ctx context.Context, stream int, line []byte) {
	s.checkEnd(ctx)
	if s.err == nil {
		s.err = s.log(stream, line)
	}
	if s.err != nil {
		s.stop(s.err)
	}
}

// wholeCharacters returns the length of b without a character that b holds only the beginning of.
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

// Flush hands on what the guest printed without a newline at the end. It is called when the guest has ended,
// however it did. It returns the error of Config.Log, or that which ended the guest before: then nothing more
// is handed on.
func (s *System) Flush() error {
	for stream, rest := range s.pending {
		if s.err == nil && len(rest) > 0 {
			s.err = s.log(stream, rest)
		}
		s.pending[stream] = nil
	}
	return s.err
}
