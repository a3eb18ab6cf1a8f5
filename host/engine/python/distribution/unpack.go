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

// archiveTimes limits the packed and the unpacked size of an archive. Each size can be at most
// archiveTimes times the size of the runtime. A malicious registry can therefore cause only limited
// work.
const archiveTimes = 4

// unpack extracts the runtime from an archive to a new file and checks the runtime. unpack does not
// extract any other file. unpack does not use names in the archive as paths.
func (r release) unpack(ctx context.Context, archive, file string, progress func(done, total int64)) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	compressed, err := gzip.NewReader(io.LimitReader(in, archiveTimes*r.bytes))
	if err != nil {
		return errors.New("the package is not a gzip archive")
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
		err = out.Sync() // because Find checks only the size
	}
	return cmp.Or(err, out.Close())
}

// locate advances to the runtime in an archive. The runtime is a regular file with the expected
// name. It can be in any folder of the archive.
func locate(entries *tar.Reader) (io.Reader, error) {
	for {
		header, err := entries.Next()
		if err == io.EOF {
			return nil, errors.New("the archive does not contain " + fileName)
		}
		if err != nil {
			return nil, errors.New("the archive is damaged")
		}
		if header.Typeflag == tar.TypeReg && path.Base(header.Name) == fileName {
			return entries, nil
		}
	}
}

// copy writes the runtime and checks the size and the hash. The method stops if the expected size
// is exceeded.
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
		return abi.Faultf(abi.Unavailable, "the registry sent an unexpected %s: its SHA-256 digest does not match", fileName).
			WithHint("if npm uses a mirror, try another registry with `npm_config_registry=URL toolrun python install`")
	}
	return nil
}

// meter is a reader that reports how many bytes it has read. When the context ends, meter returns
// an error.
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
