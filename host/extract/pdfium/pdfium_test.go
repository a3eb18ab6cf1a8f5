package pdfium_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/extract/pdfium"
)

var dir string

func TestMain(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", "pdfium-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// compiled returns a folder that contains the compiled library.
var compiled = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(dir, "compiled")
	return folder, pdfium.Compile(context.Background(), folder)
})

func open(t testing.TB) *pdfium.Library {
	t.Helper()
	folder, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	l, err := pdfium.Open(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// page returns a PDF that has one page. The PDF has no cross-reference table, but the library can
// find the objects.
func page(content string) []byte {
	return []byte("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n" +
		"3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> >>\nendobj\n" +
		"4 0 obj\n<< >>\nstream\n" + content + "\nendstream\nendobj\n5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n")
}

const hello = "BT /F1 12 Tf 72 700 Td (Hello) Tj 0 -14 Td (world) Tj ET"

func read(l *pdfium.Library, ctx context.Context, data []byte, memory int64) (string, error) {
	var pages []string
	err := l.Text(ctx, data, memory, func(text string) bool {
		pages = append(pages, text)
		return true
	})
	return strings.Join(pages, "\f"), err
}

func TestText(t *testing.T) {
	l := open(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const enough = 64 << 20
	for _, c := range []struct {
		name   string
		ctx    context.Context
		data   []byte
		memory int64
		want   string
		err    error
	}{
		{"a page", t.Context(), page(hello), enough, "Hello\nworld", nil},
		{"no PDF", t.Context(), []byte("hello"), enough, "", pdfium.ErrFormat},
		{"nothing", t.Context(), nil, enough, "", pdfium.ErrFormat},
		{"too little memory", t.Context(), page(hello), 1 << 20, "", pdfium.ErrLimit},
		{"more than its memory", t.Context(), append(page(hello), make([]byte, enough)...), enough, "", pdfium.ErrLimit},
		{"an end", ended, page(hello), enough, "", context.Canceled},
		{"a page again", t.Context(), page(hello), enough, "Hello\nworld", nil},
	} {
		if got, err := read(l, c.ctx, c.data, c.memory); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: Text = %q, %v; want %q, %v", c.name, got, err, c.want, c.err)
		}
	}
}

// TestManyAtOnce reads documents in many goroutines.
func TestManyAtOnce(t *testing.T) {
	l := open(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				if got, err := read(l, t.Context(), page(hello), 64<<20); got != "Hello\nworld" || err != nil {
					t.Errorf("Text = %q, %v", got, err)
				}
			}
		})
	}
	all.Wait()
}

// TestOpenDamaged calls Open with an empty folder, and with a folder in which one byte of a file
// was changed.
func TestOpenDamaged(t *testing.T) {
	folder, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "compiled")
	if err := os.CopyFS(damaged, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(damaged, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(damaged, "module"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte("x"), 1000); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{damaged, t.TempDir()} {
		if _, err := pdfium.Open(t.Context(), dir); err == nil {
			t.Errorf("Open of a damaged folder succeeded; want an error")
		}
	}
}

// FuzzText searches for documents that exceed a limit of their instance, or that affect other
// instances.
func FuzzText(f *testing.F) {
	f.Add(page(hello))
	f.Add([]byte("%PDF-1.7\n"))
	f.Add([]byte{})
	l := open(f) // larger inputs would exceed the time limit of one fuzz execution
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := read(l, t.Context(), data, 64<<20)
		if err != nil && !errors.Is(err, pdfium.ErrFormat) && !errors.Is(err, pdfium.ErrLimit) && !errors.Is(err, pdfium.ErrPassword) {
			t.Errorf("Text = %v", err)
		}
	})
}

// TestGenerated compares the embedded library with the checksum in generate.sh.
func TestGenerated(t *testing.T) {
	recipe, err := os.ReadFile("generate.sh")
	if err != nil {
		t.Fatal(err)
	}
	code, err := pdfium.Unpack()
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(code); !strings.Contains(string(recipe), "sha256="+hex.EncodeToString(sum[:])+"\n") {
		t.Errorf("the checksum of the library is %x; want the checksum in generate.sh", sum)
	}
}

// BenchmarkText measures how long it takes to read a small document.
func BenchmarkText(b *testing.B) {
	l := open(b)
	for b.Loop() {
		if _, err := read(l, b.Context(), page(hello), 64<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen measures how long it takes to start the compiled library.
func BenchmarkOpen(b *testing.B) {
	folder, err := compiled()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l, err := pdfium.Open(b.Context(), folder)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
