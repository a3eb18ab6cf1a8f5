package httpapi

import (
	"bytes"
	"context"
	"net/http"
)

// downloadBytes limits the memory of all downloads in bytes. pieceBytes limits the memory of a
// single download.
const (
	downloadBytes = 128 << 20
	pieceBytes    = 256 << 10
)

// loader reads a piece of a file from an offset. At the end of the file, the piece has fewer than
// pieceBytes bytes.
type loader func(ctx context.Context, offset int64) ([]byte, error)

// fileDelivery sends a file in pieces. fileDelivery reads each piece from the backend after it has
// sent the previous piece. The memory for one piece remains reserved during the whole download, so
// that other downloads cannot stall this download.
type fileDelivery struct {
	load    loader
	bytes   int64 // of the file
	first   []byte
	held    *reservation
	minRate minRate
}

// deliver opens a file of a known size and reads the first piece of the file. If this read fails,
// the error is reported before the response begins. The argument path identifies the owner of the
// memory. The caller must close the delivery.
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

// close releases the memory. close can be called more than once.
func (d *fileDelivery) close() {
	d.first = nil
	d.held.free()
}

// send writes the file. If writing fails, or if the file is deleted during the download, send
// returns early. If the response is shorter than its Content-Length, the server closes the
// connection.
func (d *fileDelivery) send(ctx context.Context, w http.ResponseWriter) {
	reader := d.minRate.start(w)
	piece, err := d.first, error(nil)
	d.first = nil // keep only one piece in memory
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
