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

// What a worker may ask for while it compiles one source.
const (
	maxFiles     = 50_000
	maxFileBytes = 64 << 20 // of all that is served
	maxEntries   = 10_000   // of a folder
)

// What a file is, in the answer to a question for it.
const (
	fileMissing = iota
	fileRegular
	fileFolder
)

// served is the answer to a question for a file.
type servedFile struct {
	fileType uint64
	data     []byte
	entries  []fs.DirEntry
}

// size is about how much memory it takes.
func (s servedFile) size() int {
	const entryBytes = 128
	n := len(s.data)
	for _, e := range s.entries {
		n += len(e.Name()) + entryBytes
	}
	return n
}

// archive serves the files of a source, and keeps what it served: every worker that compiles the source gets to see
// the same, whatever becomes of the files meanwhile. It is safe for concurrent use.
type archive struct {
	readable []string // extensions

	mu      sync.Mutex
	files   fs.FS // nil for none
	sealed  bool  // nothing is read any more: what was not asked for before does not exist
	answers map[string]servedFile
	bytes   int
}

// newArchive returns the archive of files, of which only those with the given extensions exist: a compiler that was taken over
// gets to see no more.
func newArchive(files fs.FS, readable []string) *archive {
	return &archive{files: files, readable: readable, answers: map[string]servedFile{}}
}

// seal ends the reading of files.
func (a *archive) seal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sealed, a.files = true, nil
}

var errTooManyFiles = abi.Faultf(abi.SourceInvalid, "the tool imports too many or too large files")

// answer writes what is to be known of a file, and its content.
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

// hidden reports whether a file is in a folder of which people see nothing, or is such a file: what lies there, such as a
// database or secrets, is no part of a tool.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") && part != "." {
			return true
		}
	}
	return false
}

// read reads a file by the source's own file system, which decides what is there. Whatever fails is missing.
func (a *archive) read(name string) servedFile {
	if a.files == nil || !fs.ValidPath(name) || hidden(name) {
		return servedFile{}
	}
	info, err := fs.Stat(a.files, name) // before it is opened: a pipe would wait for somebody to write to it
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
