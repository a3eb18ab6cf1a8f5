package distribution

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"

	"github.com/toolrun/toolrun/abi"
)

// archiveTimes is how many times as large as the runtime an archive may be, unpacked or not: no registry can keep us
// busy for ever.
const archiveTimes = 4

// unpack writes the runtime that is in an archive to a new file, and checks it. Nothing else of the archive is written,
// and no name in it becomes a path.
func (r release) unpack(ctx context.Context, archive, file string, progress func(done, total int64)) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	compressed, err := gzip.NewReader(io.LimitReader(in, archiveTimes*r.bytes))
	if err != nil {
		return errors.New("it is no gzip archive")
	}
	entry, err := locate(tar.NewReader(io.LimitReader(compressed, archiveTimes*r.bytes)))
	if err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = r.copy(out, &meter{ctx: ctx, from: entry, total: r.bytes, progress: progress})
	if err == nil {
		err = out.Sync() // before it gets its name: its size is all that Find looks at
	}
	return cmp.Or(err, out.Close())
}

// locate goes to the runtime in an archive: a plain file, whichever folder it is in.
func locate(entries *tar.Reader) (io.Reader, error) {
	for {
		header, err := entries.Next()
		if err == io.EOF {
			return nil, errors.New("there is no " + fileName + " in it")
		}
		if err != nil {
			return nil, errors.New("the archive is damaged")
		}
		if header.Typeflag == tar.TypeReg && path.Base(header.Name) == fileName {
			return entries, nil
		}
	}
}

// copy writes the runtime and compares size and hash, of no more bytes than it may have.
func (r release) copy(to io.Writer, from io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, r.bytes+1))
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) {
		return errors.New("the archive is damaged")
	}
	if err != nil {
		return err
	}
	if n != r.bytes || hex.EncodeToString(sum.Sum(nil)) != r.sha256 {
		return abi.Faultf(abi.Unavailable, "the registry sent another %s than the one this toolrun was built for: its SHA-256 is not the expected one", fileName).
			WithHint("nothing was installed; if npm is set to a mirror, try another one: npm_config_registry=URL toolrun python install")
	}
	return nil
}

// meter counts what is read, and ends with the context.
type meter struct {
	ctx         context.Context
	from        io.Reader
	done, total int64
	progress    func(done, total int64)
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.from.Read(p)
	m.done += int64(n)
	m.progress(min(m.done, m.total), m.total)
	return n, err
}
