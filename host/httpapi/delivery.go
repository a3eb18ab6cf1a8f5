package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// slowRoom is how many bytes of files are in memory for readers who are slow.
	slowRoom = 128 << 20
	// pieceBytes is what is read of a file at a time for a slow reader.
	pieceBytes = 1 << 20
)

// wholeTime is how long a file is in memory as a whole.
const wholeTime = 3 * time.Second

// delivery sends a file. For some seconds it is in memory as a whole. Who has not read it by then gets the rest in pieces,
// each read from the backend when the one before it is sent: a slow reader holds little, and keeps others from nothing.
type delivery struct {
	server *Server
	path   []string // whose room it takes
	bytes  int64
	load   func(context.Context) ([]byte, error)
	whole  time.Duration
	pace   pace
}

func (s *Server) delivery(bytes int64, load func(context.Context) ([]byte, error), path ...string) *delivery {
	return &delivery{server: s, path: path, bytes: bytes, load: load, whole: wholeTime, pace: filePace}
}

// open reads the file, with room for it that the caller gives back.
func (d *delivery) open(ctx context.Context) (*whole, error) {
	held, err := d.server.downloads.take(ctx, d.bytes, d.path...)
	if err != nil {
		return nil, err
	}
	content, err := d.load(ctx)
	if err != nil {
		held.free()
		return nil, err
	}
	d.bytes = int64(len(content))
	return &whole{content: content, held: held}, nil
}

// whole is a file in memory, for a time.
type whole struct {
	mu      sync.Mutex
	content []byte
	at      int // how much was read
	held    *holding
}

// drop lets go of the file, and gives back its room. It may be called twice.
func (f *whole) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.content = nil
	f.held.free()
}

// Read reads on. A file that was dropped ends there.
func (f *whole) Read(buffer []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at >= len(f.content) {
		return 0, io.EOF
	}
	n := copy(buffer, f.content[f.at:])
	f.at += n
	return n, nil
}

// send writes a file that was opened, and gives back its room.
func (d *delivery) send(ctx context.Context, w http.ResponseWriter, f *whole) {
	defer f.drop()
	drop := time.AfterFunc(d.whole, f.drop)
	defer drop.Stop()
	sent, err := d.pace.copy(w, f)
	for err == nil && sent < d.bytes {
		var n int64
		n, err = d.sendPiece(ctx, w, sent)
		sent += n
	}
}

// sendPiece reads a piece of the file and writes it. It returns how much was written. Where it fails the delivery ends: what
// was promised and is missing ends the connection.
func (d *delivery) sendPiece(ctx context.Context, w http.ResponseWriter, at int64) (int64, error) {
	slow, err := d.server.slow.take(ctx, pieceBytes, d.path...)
	if err != nil {
		return 0, err
	}
	defer slow.free()
	piece, err := d.piece(ctx, at)
	if err != nil {
		return 0, err
	}
	return d.pace.copy(w, bytes.NewReader(piece))
}

// piece is a copy of a part of the file: the whole is let go of.
func (d *delivery) piece(ctx context.Context, at int64) ([]byte, error) {
	f, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.drop()
	piece := make([]byte, pieceBytes)
	f.at = int(min(at, d.bytes))
	n, err := f.Read(piece)
	return piece[:n], err
}
