//go:build !linux

package sandbox

import "os"

// link is the parent's end of the wire.
type link struct{ in, out *os.File }

func newLink(in, out *os.File, _ int) (*link, error) { return &link{in, out}, nil }

func (l *link) Read(b []byte) (int, error)  { return l.in.Read(b) }
func (l *link) Write(b []byte) (int, error) { return l.out.Write(b) }

func (l *link) quiet() bool { return true }

func (l *link) close() {}

func killAll(p *os.Process) { _ = p.Kill() }

func closeInherited() {}
