package wasi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// recorder is a log that records every line as "stream:line".
type recorder []string

func (r *recorder) log(stream int, line []byte) error {
	*r = append(*r, fmt.Sprintf("%d:%s", stream, line))
	return nil
}

// print writes text in one call. print uses one buffer for each piece.
func (g *guest) print(fd int, pieces ...string) {
	g.Helper()
	at, total := uint32(16384), 0
	for i, text := range pieces {
		g.put32(uint32(8*i), at, uint32(len(text)))
		g.Memory().WriteString(at, text)
		at += uint32(len(text))
		total += len(text)
	}
	g.must(ok, "fd_write", uint64(fd), 0, uint64(len(pieces)), 8192)
	if n := g.get32(8192); n != uint32(total) {
		g.Errorf("fd_write wrote %d bytes; want %d", n, total)
	}
}

func TestLines(t *testing.T) {
	const maxLine = wasi.MaxLine
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name   string
		prints []string
		want   []string
	}{
		{"nothing", []string{""}, nil},
		{"one", []string{"a\n"}, []string{"1:a"}},
		{"rest", []string{"a\nb"}, []string{"1:a", "1:b"}},
		{"empty lines", []string{"\n\n"}, []string{"1:", "1:"}},
		{"in pieces", []string{"a", "b", "\n", "c"}, []string{"1:ab", "1:c"}},
		{"carriage return", []string{"a\r\n"}, []string{"1:a\r"}},
		{"as long as may be", []string{x(maxLine) + "\n"}, []string{"1:" + x(maxLine)}},
		{"as long as may be, newline later", []string{x(maxLine), "\n"}, []string{"1:" + x(maxLine)}},
		{"as long as may be, no newline", []string{x(maxLine)}, []string{"1:" + x(maxLine)}},
		{"one more", []string{x(maxLine+1) + "\n"}, []string{"1:" + x(maxLine), "1:x"}},
		{"one more, later", []string{x(maxLine), "x\n"}, []string{"1:" + x(maxLine), "1:x"}},
		{"three of them", []string{x(2*maxLine+5) + "\ny"}, []string{"1:" + x(maxLine), "1:" + x(maxLine), "1:xxxxx", "1:y"}},
		{"no character is cut", []string{x(maxLine-1) + "ö\n"}, []string{"1:" + x(maxLine-1), "1:ö"}},
		{"no character is cut, pending", []string{"y", x(maxLine-4) + "\U0001f600z\n"}, []string{"1:y" + x(maxLine-4), "1:\U0001f600z"}},
		{"a character that fits", []string{x(maxLine-2) + "ö" + "y\n"}, []string{"1:" + x(maxLine-2) + "ö", "1:y"}},
		{"no UTF-8 at all", []string{x(maxLine-1) + "\xff\xff\n"}, []string{"1:" + x(maxLine-1) + "\xff", "1:\xff"}},
		{"only continuations", []string{strings.Repeat("\x80", maxLine+1)}, []string{"1:" + strings.Repeat("\x80", maxLine), "1:\x80"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got recorder
			c := fixed()
			c.Log = got.log
			g := start(t, proxy(onePage), c)
			for _, text := range tt.prints {
				g.print(1, text)
			}
			if err := g.Flush(); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("lines = %q, %v; want %q", got, err, tt.want)
			}
			if err := g.Flush(); err != nil || len(got) != len(tt.want) {
				t.Errorf("a second Flush = %v, lines %q", err, got)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	var got recorder
	c := fixed()
	c.Log = got.log
	g := start(t, proxy(onePage), c)
	g.print(1, "out", " a\nout b")
	g.print(2, "err a\n", "err b")
	g.print(1, "\n")
	if err := g.Flush(); err != nil {
		t.Error(err)
	}
	if want := []string{"1:out a", "2:err a", "1:out b", "2:err b"}; !slices.Equal(got, want) {
		t.Errorf("lines = %q; want %q", got, want)
	}
}

// TestPrintTooMuch lists the same buffer many times. The total size of the buffers is limited like
// any byte count.
func TestPrintTooMuch(t *testing.T) {
	lines, full := 0, errors.New("the log is full")
	c := fixed()
	c.Log = func(int, []byte) error {
		if lines++; lines > 10 {
			return full
		}
		return nil
	}
	g := start(t, proxy([]byte{1, 0x20, 0x20}), c) // 32 pages; the limit is 1024 buffers
	many := func() {
		for i := range uint32(1024) {
			g.put32(8*i, 0, 32*page)
		}
	}
	many()
	g.must(einval, "fd_write", 1, 0, 1024, 32*page-4)
	if lines != 0 {
		t.Errorf("Log got %d lines of a rejected write", lines)
	}
	g.print(2, "no newline")
	many()
	if _, err := g.try("fd_write", 1, 0, 1023, 32*page-4); !errors.Is(err, full) || g.Err() != full {
		t.Errorf("fd_write to a full log = %v, Err() = %v; want %v", err, g.Err(), full)
	}
	if _, err := g.try("fd_write", 1, 0, 1, 32*page-4); !errors.Is(err, full) || lines != 11 {
		t.Errorf("the next write = %v, %d lines; want the same error and no more lines", err, lines)
	}
	if err := g.Flush(); err != full || lines != 11 {
		t.Errorf("Flush = %v, %d lines; want the same error and no more lines", err, lines)
	}
}

func TestFlushError(t *testing.T) {
	full := errors.New("the log is full")
	c := fixed()
	c.Log = func(int, []byte) error { return full }
	g := start(t, proxy(onePage), c)
	g.print(1, "a")
	if err := g.Flush(); err != full || g.Err() != full {
		t.Errorf("Flush = %v, Err() = %v; want %v", err, g.Err(), full)
	}
}
