package sandbox

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/toolrun/toolrun/abi"
)

// These constants limit what a worker can request during the compilation of one source.
const (
	maxFiles     = 50_000
	maxFileBytes = 64 << 20 // the total size of all contents and entries
	maxEntries   = 10_000   // of a folder
)

// These constants are the types of a file in a reply.
const (
	fileMissing = iota
	fileRegular
	fileFolder
)

// A servedFile is the reply to a request for a file.
type servedFile struct {
	fileType uint64
	data     []byte
	entries  []fs.DirEntry
}

// size returns the approximate memory use of s in bytes.
func (s servedFile) size() int {
	const entryBytes = 128
	n := len(s.data)
	for _, e := range s.entries {
		n += len(e.Name()) + entryBytes
	}
	return n
}

// archive serves the files of a source. archive caches the files, because every worker that
// compiles the source must see the same files. archive is safe for concurrent use.
type archive struct {
	readable []string // extensions

	mu      sync.Mutex
	files   fs.FS // nil for none
	sealed  bool  // if true, workers can see only cached files
	answers map[string]servedFile
	bytes   int
}

// newArchive returns an archive of the files in a file system. The archive contains only files with
// the listed extensions. Therefore a compromised compiler cannot see other files.
func newArchive(files fs.FS, readable []string) *archive {
	return &archive{files: files, readable: readable, answers: map[string]servedFile{}}
}

// seal ends the use of the file system. After the call, the archive serves only files that it has
// already read.
func (a *archive) seal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sealed, a.files = true, nil
}

var errTooManyFiles = abi.Faultf(abi.SourceInvalid, "the files that the tool imports exceed the limit on files or bytes")

// reply writes the type and the content of a file to a frame.
func (a *archive) reply(f *frame, name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	file, ok := a.answers[name]
	if !ok && !a.sealed {
		file = a.read(name)
		a.answers[name] = file
		a.bytes += file.size() + len(name)
	}
	if len(a.answers) > maxFiles || a.bytes > maxFileBytes {
		return errTooManyFiles
	}
	f.number(file.fileType).data(file.data).number(uint64(len(file.entries)))
	for _, e := range file.entries {
		f.text(e.Name()).number(bit(e.IsDir()))
	}
	return nil
}

// hidden reports whether a name in the path starts with a dot. Hidden files are not part of a tool.
// Hidden files can be databases or secrets.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") && part != "." {
			return true
		}
	}
	return false
}

// read reads a file from the file system of the source. If the file cannot be read, the method
// reports that the file does not exist.
func (a *archive) read(name string) servedFile {
	if a.files == nil || !fs.ValidPath(name) || hidden(name) {
		return servedFile{}
	}
	info, err := fs.Stat(a.files, name) // opening a named pipe would block
	if err != nil || !info.IsDir() && !(info.Mode().IsRegular() && slices.Contains(a.readable, path.Ext(name))) {
		return servedFile{}
	}
	file, err := a.files.Open(name)
	if err != nil {
		return servedFile{}
	}
	defer file.Close()
	if info.IsDir() {
		folder, ok := file.(fs.ReadDirFile)
		if !ok {
			return servedFile{fileType: fileFolder}
		}
		entries, _ := folder.ReadDir(maxEntries)
		return servedFile{fileType: fileFolder, entries: entries}
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(maxFileBytes-a.bytes+1)))
	if err != nil {
		return servedFile{}
	}
	return servedFile{fileType: fileRegular, data: data}
}
