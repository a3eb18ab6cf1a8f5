package pdfium_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/extract/pdfium"
)

// TestMissingPages reads a document that declares a million pages.
func TestMissingPages(t *testing.T) {
	data := bytes.Replace(page(hello), []byte("/Count 1 "), []byte("/Count 1000000 "), 1)
	got, err := read(open(t), t.Context(), data, 64<<20)
	if !errors.Is(err, pdfium.ErrFormat) || !strings.HasPrefix(got, "Hello\nworld\f") || len(got) > 200 {
		t.Errorf("Text = %d bytes, %v; want the existing page and ErrFormat", len(got), err)
	}
}
