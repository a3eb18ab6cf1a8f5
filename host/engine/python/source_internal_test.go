package python

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
)

func TestFolder(t *testing.T) {
	files := fstest.MapFS{
		"a.py":       {Data: []byte("\xef\xbb\xbfa = 1")},
		"secret.txt": {Data: []byte("no")},
		"dir.py/x":   {},
		"large.py":   {Data: make([]byte, maxSourceBytes+1)},
		"bytes.py":   {Data: []byte{0xff}},
	}
	f := newFolder(files)
	for _, tt := range []struct {
		name, text string
		refused    bool
	}{
		{name: "a.py", text: "a = 1"},
		{name: "b.py"}, {name: "secret.txt"}, {name: "dir.py"}, {name: "../a.py"}, {name: "/a.py"}, {name: "./a.py"}, {name: ""},
		{name: "large.py", refused: true}, {name: "bytes.py", refused: true},
	} {
		text, ok, err := f.read(tt.name)
		if text != tt.text || ok != (tt.text != "") || errors.Is(err, abi.SourceInvalid) != tt.refused {
			t.Errorf("read(%q) = %.20q, %t, %v; want %q, refused %t", tt.name, text, ok, err, tt.text, tt.refused)
		}
	}
	files["b.py"], files["a.py"] = &fstest.MapFile{Data: []byte("b")}, &fstest.MapFile{Data: []byte("other")}
	if text, _, _ := f.read("a.py"); text != "a = 1" {
		t.Errorf("the second read(a.py) = %q; want the first text", text)
	}
	if _, ok, _ := f.read("b.py"); ok {
		t.Error("read(b.py) = true after the file was created; want the first result")
	}
}

func TestFolderBounds(t *testing.T) {
	small, large := fstest.MapFS{}, fstest.MapFS{}
	for i := range maxModules + 1 {
		name := fmt.Sprintf("m%d.py", i)
		small[name] = &fstest.MapFile{Data: []byte("x = 1")}
		large[name] = &fstest.MapFile{Data: []byte(strings.Repeat("x", maxSourceBytes))}
	}
	for _, tt := range []struct {
		name  string
		files fstest.MapFS
		reads int
		says  string
	}{
		{"modules", small, maxModules, "cannot import m200.py: a tool can import at most 200 of its own modules"},
		{"bytes", large, maxFolderBytes / maxSourceBytes, "cannot import m8.py: with this module, the tool has 9 modules and 9437184 bytes; the limit is 8388608 bytes"},
		{"names", fstest.MapFS{}, maxLookups, "more than 4000 names"},
	} {
		f := newFolder(tt.files)
		for i := range tt.reads + 1 {
			_, _, err := f.read(fmt.Sprintf("m%d.py", i))
			if (err != nil) != (i == tt.reads) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("%s: read %d = %v; want the error after %d to contain %q", tt.name, i, err, tt.reads, tt.says)
			}
		}
	}
}
