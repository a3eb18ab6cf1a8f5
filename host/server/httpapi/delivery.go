package httpapi

import (
	"bytes"
	"context"
	"net/http"
)

// downloadRoom is how many bytes of files downloads have in memory, pieceBytes what one of them has.
const (
	downloadBytes = 128 << 20
	pieceBytes    = 256 << 10
)

// loader reads a file from an offset on: up to pieceBytes, and less at its end.
type loader func(ctx context.Context, offset int64) ([]byte, error)

// delivery sends a file in pieces, each read from the backend when the one before it is sent. It has room for one piece
// from its start to its end, so that no other download ends one that has begun.
type fileDelivery struct {
	load    loader
	bytes   int64 // of the file
	first   []byte
	held    *reservation
	minRate minRate
}

// deliver opens a file of so many bytes: what cannot be read is refused before an answer begins. The path names whose
// room it takes. The caller closes the delivery.
func (h *fileHandler) deliver(ctx context.Context, bytes int64, load loader, path ...string) (*fileDelivery, error) {
	held, err := h.downloads.acquire(ctx, pieceBytes, path...)
	if err != nil {
		return nil, err
	}
	first, err := load(ctx, 0)
	if err != nil {
		held.free()
		return nil, err
	}
	return &fileDelivery{load: load, bytes: bytes, first: first, held: held, minRate: fileRate}, nil
}

// close gives back the room. It may be called twice.
func (d *fileDelivery) close() {
	d.first = nil
	d.held.free()
}

// send writes the file. If it fails, or if the file was deleted meanwhile, it returns early: the server ends the connection
// of an answer that is shorter than promised.
func (d *fileDelivery) send(ctx context.Context, w http.ResponseWriter) {
	reader := d.minRate.start(w)
	piece, err := d.first, error(nil)
	d.first = nil // only one piece is in memory
	for sent := int64(0); err == nil && len(piece) > 0; {
		var n int64
		if n, err = reader.copy(bytes.NewReader(piece)); err != nil {
			return
		}
		if sent += n; sent >= d.bytes {
			return
		}
		piece = nil
		reader.wait(func() { piece, err = d.load(ctx, sent) })
	}
}
