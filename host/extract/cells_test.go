package extract_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/extract/pdfium"
	"github.com/toolrun/toolrun/host/sandbox"
)

// cacheDir is the folder in which the tests store the compiled PDF library.
var cacheDir string

func TestMain(m *testing.M) {
	engines.Main()
	var err error
	if cacheDir, err = os.MkdirTemp("", "document-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(cacheDir)
	os.Exit(code)
}

// compiled returns a folder that contains the compiled PDF library. Engines in this process use the
// library.
var compiled = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(cacheDir, "compiled")
	return dir, pdfium.Compile(context.Background(), dir)
})

// inProcess returns an engine that runs in this process.
func inProcess(t testing.TB) *extract.Engine {
	t.Helper()
	dir, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	e := extract.New(extract.WithCompiled(dir))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// inWorkers returns a reader that uses a pool of worker processes.
func inWorkers(t testing.TB) *extract.Reader {
	t.Helper()
	pool, err := engines.NewDocumentPool(sandbox.Options{Workers: 1, CacheDir: filepath.Join(cacheDir, "cells"), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	reader := &extract.Reader{Engine: pool.Engines()[0]}
	t.Cleanup(func() {
		if err := errors.Join(reader.Close(), pool.Close()); err != nil {
			t.Error(err)
		}
	})
	return reader
}

func lookup(t testing.TB, name string) extract.Format {
	t.Helper()
	f, ok := extract.Lookup(name)
	if !ok {
		t.Fatalf("unknown format %q", name)
	}
	return f
}

// good checks that the reader can still read a valid document after a test with bad documents.
func good(t *testing.T, reader *extract.Reader, after string) {
	t.Helper()
	got, err := reader.Read(t.Context(), admission.Flow{}, lookup(t, "pdf"), pagesOf("BT /F1 12 Tf (next) Tj ET"))
	if err != nil || got.Text != "next" || got.Truncated {
		t.Fatalf("after %s: Read = %q, %t, %v; want the next document", after, got.Text, got.Truncated, err)
	}
}

// TestHostile reads hostile documents in worker processes. Each document makes the parser loop,
// exhaust memory or crash. The result must contain a reason. After each document, the reader must
// be able to read another document.
func TestHostile(t *testing.T) {
	reader := inWorkers(t)
	good(t, reader, "nothing")
	circle := string(pagesOf("BT /F1 12 Tf (text) Tj ET"))
	circle = strings.Replace(circle, "/Root", fmt.Sprintf("/Prev %d /Root", strings.Index(circle, "xref\n")), 1)
	swelling := pdfOf(catalogue, "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", streamOf(strings.Repeat("1 ", 10<<20), true))
	for _, c := range []struct {
		name, format string
		data         []byte
		want         []extract.Reason
	}{
		{"a reference cycle", "pdf", []byte(circle), []extract.Reason{""}},
		{"an unterminated string", "pdf", pagesOf("BT /F1 12 Tf <41"), []extract.Reason{extract.NoText, ""}},
		{"nested forms", "pdf", forms(9, 20), []extract.Reason{extract.NoText, extract.TooComplex}},
		{"a page that inflates", "pdf", swelling, []extract.Reason{extract.NoText, extract.TooComplex}},
		{"a large table", "pdf", tableOf(1<<31, "\x01\x00\x00\x00"), []extract.Reason{extract.Damaged}},
		{"a table larger than memory", "pdf", tableOf(1<<60, "\x01\x00\x00\x00"), []extract.Reason{extract.Damaged}},
		{"an object that contains itself", "pdf", tableOf(2, "\x00\x00\x00\x00\x02\x00\x01\x00"), []extract.Reason{extract.Damaged}},
		{"an archive with a false size", "docx", bombOf(t, 1000, 1000), []extract.Reason{extract.Damaged, extract.TooComplex}},
		{"an unterminated stream", "pdf", pdfOf(catalogue, "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", "<< /Length 9223372036854775807 >>\nstream\nBT (text) Tj ET\nendstream"), []extract.Reason{extract.NoText, ""}},
	} {
		got, err := reader.Read(t.Context(), admission.Flow{}, lookup(t, c.format), c.data)
		if err != nil || !slices.Contains(c.want, got.Reason) {
			t.Errorf("%s: Read = %.40q, %q, %v; want one of %q", c.name, got.Text, got.Reason, err, c.want)
		}
		good(t, reader, c.name)
	}
}

// tableOf returns a PDF with a cross-reference stream. The stream declares the given size.
func tableOf(size int, entries string) []byte {
	object := fmt.Sprintf("%%PDF-1.5\n1 0 obj\n<< /Type /XRef /Size %d /W [1 2 1] /Index [0 %d] /Root 1 0 R /Length %d >>\nstream\n%s\nendstream\nendobj\n", size, len(entries)/4, len(entries), entries)
	return fmt.Appendf(nil, "%s%s\nstartxref\n9\n%%%%EOF\n", object, strings.Repeat("%", 100))
}

// forms returns a PDF with nested forms. Each form shows the next form many times.
func forms(deep, many int) []byte {
	objects := []string{catalogue, "<< /Kids [3 0 R] >>",
		"<< /Type /Page /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>", streamOf("/X Do", false)}
	for i := range deep {
		form := streamOf(strings.Repeat("/X Do ", many), true)
		objects = append(objects, strings.Replace(form, "<<", fmt.Sprintf("<< /Subtype /Form /Resources << /XObject << /X %d 0 R >> >>", i+6), 1))
	}
	return pdfOf(objects...)
}

// TestWithoutTextInWorkers reads all documents without text in one worker process.
func TestWithoutTextInWorkers(t *testing.T) {
	reader := inWorkers(t)
	for name, c := range unreadable(t) {
		got, err := reader.Read(t.Context(), admission.Flow{}, lookup(t, c.format), c.data)
		if want := (extract.Text{Reason: c.reason}); err != nil || got != want {
			t.Errorf("%s: Read = %+v, %v; want the reason %s", name, got, err, c.reason)
		}
	}
	good(t, reader, "all that")
}

// TestLargest reads documents of the maximum size. The test omits JSON files, because a JSON file
// of the maximum size takes too long to decode.
func TestLargest(t *testing.T) {
	if raced() {
		t.Skip("under the race detector a worker exceeds the memory limit of a document")
	}
	reader := inWorkers(t)
	for name, data := range map[string][]byte{
		"txt":  []byte(strings.Repeat("a", extract.MaxBytes)),
		"json": []byte(`"` + strings.Repeat("a", 2<<20) + `"`),
		"pdf":  append(pagesOf("BT /F1 12 Tf (next) Tj ET"), make([]byte, 19<<20)...),
	} {
		got, err := reader.Read(t.Context(), admission.Flow{}, lookup(t, name), data)
		if err != nil || got.Text == "" || got.Truncated != (name != "pdf") {
			t.Errorf("%s: Read = %d bytes, %t, %v", name, len(got.Text), got.Truncated, err)
		}
	}
}

// raced reports whether this program was built with the race detector. The workers run the same
// program.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestToolsHaveNoDocuments checks that tools cannot use the engine that extracts text.
func TestToolsHaveNoDocuments(t *testing.T) {
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, e := range slices.Concat(pool.Engines(), engines.InProcess()) {
		if slices.Contains(e.Info().Extensions, extract.Extension) {
			t.Errorf("a pool for tools has the engine %s with the extension %s; want no engine for documents", e.Info().Name, extract.Extension)
		}
	}
	documents, err := engines.NewDocumentPool(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer documents.Close()
	if got := documents.Engines(); len(got) != 1 || !engine.IsIsolated(got[0]) || engine.DefaultMemory(got[0]) != extract.MemoryBytes {
		t.Errorf("Engines() = %v; want the isolated engine for documents", got)
	}
}
