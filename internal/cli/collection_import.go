package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// importFlags contains the flags for importing documents.
type importFlags struct {
	memoryFlags
	query    apitypes.ImportQuery
	metadata []string
}

func (cc collectionCommands) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import NAME FILE...",
		Short: "Import documents, or entries from JSON lines",
		Long: `Import files. The text of a PDF, DOCX, TXT, Markdown or JSON file is divided into entries by its
headings and paragraphs. The metadata of an entry contain the source, which is the path of the file, and the offset.
If the page and the heading are known, the metadata also contain the page and the heading. A second import of a file
replaces the entries of the file, and removes the entries whose text the file no longer contains. If the text of a
file cannot be read, the command imports the other files and fails at the end.

A file with the extension .jsonl or .ndjson, and stdin, contains one entry as a JSON object in each line, such as the
output of toolrun collection export. The members of the object are content, and optionally id, namespace, metadata,
ttl or expires_at, user_id and session_id. An imported entry replaces an existing entry with the same id. If a line
has no id, the id of the entry depends only on the content, so a second import replaces the entry. The flags --user
and --session replace the owners in the file. If a line is wrong, the command fails and prints the number of the line.
After a failure, entries of earlier lines may have been stored. Correct the file and import it again.`,
		Example: `  toolrun collection import articles guides/*.md terms.pdf --metadata category=terms
  toolrun collection import articles articles.jsonl
  toolrun collection import diary - --user ann < diary.jsonl`,
		Args: takes(2, -1, "the NAME of a collection and FILEs, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := cc.importedFiles(cmd, &f, args[1:])
			if err != nil {
				return err
			}
			return cc.with(cmd, &f.memoryFlags, true, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				return cc.importFiles(ctx, s, c, args[0], files)
			})
		},
	}
	cc.register(cmd, &f.memoryFlags, &f.query.Namespace)
	embeds(cmd)
	cmd.Flags().StringArrayVar(&f.metadata, "metadata", nil, "add `KEY=VALUE` to the metadata of the entries of documents; VALUE is JSON or a text; repeat for more")
	cmd.Flags().StringVar(&f.query.TTL, "ttl", "", "the `time` to live of the entries of documents, such as 90d, if shorter than the retention of the collection")
	return cmd
}

// importedFile describes a file and the result of its import. The flag --json prints an
// importedFile as JSON.
type importedFile struct {
	name  string // as in the arguments
	lines bool   // contains JSON lines
	query apitypes.ImportQuery

	File      string     `json:"file"`
	Source    string     `json:"source,omitempty"`
	Entries   int        `json:"entries"`
	Unchanged int        `json:"unchanged,omitempty"`
	Removed   int        `json:"removed,omitempty"`
	Truncated bool       `json:"truncated,omitempty"`
	Expired   int        `json:"expired,omitempty"`
	Error     *abi.Fault `json:"error,omitempty"`
}

// importedFiles checks the arguments of an import and returns the files.
func (cc collectionCommands) importedFiles(cmd *cobra.Command, f *importFlags, names []string) ([]*importedFile, error) {
	metadata, err := pairs(f.metadata)
	if err != nil {
		return nil, err
	}
	f.query.Metadata = metadata
	var files []*importedFile
	sources := map[string]string{}
	for _, name := range names {
		file := &importedFile{name: name, File: name, query: f.query, lines: name == "-" || slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(name)))}
		files = append(files, file)
		if name != "-" {
			if info, err := os.Stat(cc.env.path(name)); err != nil {
				return nil, usagef("", "cannot read %s: %v", name, cause(err))
			} else if info.IsDir() {
				return nil, usagef("name the files, such as "+filepath.Join(name, "*.md"), "%s is a folder", name)
			}
		}
		if file.lines {
			continue
		}
		file.query.Source = sourceOf(name)
		if other := sources[file.query.Source]; other != "" {
			return nil, usagef("run the command in a folder that contains both files, and use paths relative to this folder", "%s and %s have the same source %q", other, name, file.query.Source)
		}
		sources[file.query.Source] = name
	}
	if len(sources) == 0 {
		for _, flag := range []string{"namespace", "metadata", "ttl"} {
			if cmd.Flags().Changed(flag) {
				return nil, usagef("write the values in each line", "--%s applies only to documents and not to JSON lines", flag)
			}
		}
	}
	return files, nil
}

// sourceOf returns the source of a document. The source is usually the path of the document with
// slashes. If the path is absolute or leaves the working directory, the source is only the name of
// the file.
func sourceOf(name string) string {
	if clean := filepath.Clean(name); filepath.IsLocal(clean) {
		return filepath.ToSlash(clean)
	}
	return filepath.Base(name)
}

// pairs converts arguments of the form KEY=VALUE to a JSON object. If there are no arguments, the
// result is "".
func pairs(args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	values := map[string]json.RawMessage{}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return "", usagef("use a value such as --metadata category=terms", "--metadata %q is not of the form KEY=VALUE", arg)
		}
		if _, ok := values[key]; ok {
			return "", usagef("omit one of them", "--metadata contains %q twice", key)
		}
		if values[key] = json.RawMessage(value); !json.Valid(values[key]) {
			values[key], _ = json.Marshal(value) // a string can always be encoded
		}
	}
	text, err := json.Marshal(values)
	return string(text), err
}

// importFiles imports files. If the content of a file is wrong, the import continues with the next
// file.
func (cc collectionCommands) importFiles(ctx context.Context, s collectionBackend, c host.Caller, name string, files []*importedFile) (err error) {
	documents := &documentReader{out: cc.out}
	defer func() { err = cmp.Or(err, documents.close()) }()
	var doing atomic.Value
	doing.Store("files")
	var count atomic.Int64
	err = cc.out.counting(func() string { return fmt.Sprintf("importing %v, %s", doing.Load(), entries(int(count.Load()))) }, func() error {
		for i, file := range files {
			doing.Store(cc.env.show(file.name))
			if len(files) > 1 {
				doing.Store(fmt.Sprintf("%s (file %d of %d)", cc.env.show(file.name), i+1, len(files)))
			}
			before := count.Load()
			report := func(entries int) { count.Store(before + int64(entries)) }
			if err := cc.importFile(ctx, s, c, name, file, documents, report); err != nil {
				file.Error = faultOf(err)
				if file.lines || !isWrongContent(file.Error) || len(files) == 1 {
					return located(err, file)
				}
			}
			report(file.Entries)
		}
		return nil
	})
	for _, file := range files {
		cc.warnImport(file, err == nil)
	}
	if err != nil {
		return err
	}
	return cc.answerImport(name, files)
}

// isWrongContent reports whether a fault concerns only the content of one file.
func isWrongContent(f *abi.Fault) bool {
	return f.Code == abi.InvalidArgument || f.Code == abi.TooLarge
}

// located adds the name of the file to a fault that concerns the content of the file.
func located(err error, file *importedFile) error {
	if _, ok := err.(*usageError); ok || file.lines || !isWrongContent(faultOf(err)) {
		return err
	}
	f := *faultOf(err)
	f.Message = file.name + ": " + f.Message
	return &f
}

// warnImport prints warnings about the import of a file. If the argument "failures" is true and the
// import of the file failed, the failure is also printed.
func (cc collectionCommands) warnImport(file *importedFile, failures bool) {
	if file.Error != nil && failures {
		cc.out.warn("%s: %s", cc.env.show(file.name), file.Error.Message)
	}
	if file.Error != nil && file.Entries > 0 {
		cc.out.warn("imported %s before the failure", entries(file.Entries))
	}
	if file.Expired > 0 {
		cc.out.warn("skipped %s with an expired lifetime", entries(file.Expired))
	}
	if file.Truncated {
		cc.out.warn("a part of the text in %s was not imported, because the text exceeds %s or is unreadable", cc.env.show(file.name), bytesize.Format(extract.DocumentTextBytes))
	}
}

// answerImport prints the result of an import. If the import of a file failed, answerImport returns
// an error.
func (cc collectionCommands) answerImport(name string, files []*importedFile) error {
	answer := struct {
		Entries int             `json:"entries"`
		Files   []*importedFile `json:"files,omitempty"`
	}{}
	failed, unchanged, removed := []*importedFile{}, 0, 0
	for _, file := range files {
		answer.Entries += file.Entries
		unchanged, removed = unchanged+file.Unchanged, removed+file.Removed
		if file.Error != nil {
			failed = append(failed, file)
		}
		if !file.lines {
			answer.Files = files
		}
	}
	err := cc.out.answer(answer, func() error {
		of, details := "", ""
		if answer.Files != nil {
			of = " of " + count(len(files)-len(failed), "file")
		}
		if unchanged > 0 || removed > 0 {
			details = fmt.Sprintf(" (%d unchanged, %d removed)", unchanged, removed)
		}
		return cc.out.say("imported %s%s into %s%s", entries(answer.Entries), of, name, details)
	})
	if err != nil || len(failed) == 0 {
		return err
	}
	return abi.Faultf(failed[0].Error.Code, "%d of %s could not be imported", len(failed), count(len(files), "file")).WithHint("correct the files that the warnings name, and import these files again")
}

// importFile imports a file.
func (cc collectionCommands) importFile(ctx context.Context, s collectionBackend, c host.Caller, name string, file *importedFile, documents *documentReader, report func(int)) error {
	if file.lines {
		return cc.importLines(ctx, s, c, name, file, report)
	}
	content, err := readDocument(cc.env.path(file.name))
	if err != nil {
		return err
	}
	done, err := s.ImportFile(ctx, c, name, documentFile{name: filepath.Base(file.name), content: content, query: file.query, documents: documents, report: report})
	file.Source, file.Entries, file.Unchanged, file.Removed, file.Truncated = done.Source, done.Entries, done.Unchanged, done.Removed, done.Truncated
	return err
}

// readDocument reads a file.
func readDocument(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "cannot read the file: %v", cause(err))
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, extract.MaxBytes+1))
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "cannot read the file: %v", cause(err))
	}
	if len(content) > extract.MaxBytes {
		return nil, abi.Faultf(abi.TooLarge, "the file exceeds %s", bytesize.Format(extract.MaxBytes))
	}
	return content, nil
}

// importLines reads entries in the form of JSON lines and stores the entries.
func (cc collectionCommands) importLines(ctx context.Context, s collectionBackend, c host.Caller, name string, file *importedFile, report func(int)) error {
	from, err := cc.openLines(file.name)
	if err != nil {
		return err
	}
	defer from.Close()
	done, err := host.ImportEntries(ctx, c, host.NewEntryReader(from, time.Now()), func(ctx context.Context, owner host.Caller, entries []host.NewEntry) error {
		_, err := s.Remember(ctx, owner, name, entries...)
		return err
	}, func(p host.EntryProgress) { report(p.Entries) })
	file.Entries, file.Expired = done.Entries, done.Expired
	return err
}

// openLines opens the file with the given name. If the name is "-", openLines returns stdin.
func (cc collectionCommands) openLines(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(cc.env.Stdin), nil
	}
	f, err := os.Open(cc.env.path(name))
	if err != nil {
		return nil, usagef("", "cannot read %s: %v", name, cause(err))
	}
	return f, nil
}
