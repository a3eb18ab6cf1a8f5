package extract_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/extract"
)

const (
	png  = "\x89PNG\r\n\x1A\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"
	jpeg = "\xFF\xD8\xFF\xE0\x00\x10JFIF\x00"
	gif  = "GIF89a\x01\x00\x01\x00\x80\x00"
	bmp  = "BM\x3A\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00"
	ole  = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
	html = "<!DOCTYPE html><html><script>alert(1)</script></html>"
	svg  = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
)

// olefile returns a compound file. Older Office formats use compound files as containers. The
// argument is the beginning of the file's first stream.
func olefile(begins string) string {
	return ole + strings.Repeat("\x00", 512-len(ole)) + begins + strings.Repeat("\x00", 100)
}

func TestIdentify(t *testing.T) {
	xlsx, pptx := zipOf(t, part{"[Content_Types].xml", ""}, part{"xl/workbook.xml", ""}), zipOf(t, part{"_rels/.rels", ""}, part{"ppt/presentation.xml", ""})
	for _, c := range []struct{ name, declared, head, format, mediaType string }{
		{"a.pdf", "application/pdf", string(pagesOf("")), "pdf", "application/pdf"},
		{"A.PDF", "", "\n%PDF-2.0\n%\xE2\xE3", "pdf", "application/pdf"},
		{"a.docx", "", string(docxOf(t, "")), "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"a.docx", "", string(zipOf(t, part{"docProps/thumbnail.jpeg", strings.Repeat("abc \x00", 3000)}, part{"word/document.xml", ""})), "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"a.xlsx", "application/octet-stream", string(xlsx), "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"a.pptx", "", string(pptx), "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
		{"a.xls", "application/vnd.ms-excel", olefile("\x09\x08\x10\x00\x00\x06\x05\x00"), "xls", "application/vnd.ms-excel"},
		{"a.ppt", "", olefile("\x0F\x00\xE8\x03"), "ppt", "application/vnd.ms-powerpoint"},
		{"a.ppt", "", olefile("anything"), "ppt", "application/vnd.ms-powerpoint"},
		{"a.txt", "text/plain; charset=utf-8", "héllo", "txt", "text/plain"},
		{"a.txt", "", "about %PDF-1.4 files", "txt", "text/plain"},
		{"a.txt", "", "BMW sales", "txt", "text/plain"},
		{"a.txt", "", "", "txt", "text/plain"},
		{"a.txt", "", "\xFF\xFEh\x00i\x00", "txt", "text/plain"},
		{"a.txt", "", strings.Repeat("é", extract.HeadBytes/2-1) + "a€ and so on", "txt", "text/plain"},
		{"a.csv", "application/vnd.ms-excel", "a;b\r\n1;2\r\n", "csv", "text/csv"},
		{"a.json", "application/json", "\n {\"a\": 1}", "json", "application/json"},
		{"a.json", "text/plain", "null", "json", "application/json"},
		{"a.htm", "text/html", html, "html", "text/html"},
		{"a.html", "", "a <b>piece</b>", "html", "text/html"},
		{"a.png", "image/png", png, "png", "image/png"},
		{"a.b.JPEG", "image/jpg", jpeg, "jpg", "image/jpeg"},
		{"a.gif", "", gif, "gif", "image/gif"},
		{"a.bmp", "", bmp, "bmp", "image/bmp"},
		{"a.rtf", "text/rtf", `{\rtf1 hi}`, "rtf", "application/rtf"},
		{"noextension", "text/plain", "hi", "txt", "text/plain"},
		{`C:\a.b\noextension`, "application/vnd.ms-excel", olefile("\x09\x08\x10\x00\x00\x06\x05\x00"), "xls", "application/vnd.ms-excel"},
	} {
		f, mediaType, err := extract.Identify(c.name, c.declared, []byte(c.head))
		if err != nil || f.Name != c.format || mediaType != c.mediaType {
			t.Errorf("Identify(%q, %q, %.20q) = %s, %s, %v; want %s, %s", c.name, c.declared, c.head, f.Name, mediaType, err, c.format, c.mediaType)
		}
	}
}

func TestIdentifyRefusesMismatch(t *testing.T) {
	jar := string(zipOf(t, part{"META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n"}, part{"A.class", ""}))
	for _, c := range []struct{ name, declared, head, want string }{
		{"a.pdf", "application/pdf", html, "is declared as pdf (application/pdf), but its content is text/html"},
		{"a.pdf", "", html + "%PDF-1.4", "but its content is text/plain"},
		{"a.pdf", "", "", "but its content is empty"},
		{"a.png", "image/png", "#!/usr/bin/python\nimport os", "is declared as png (image/png), but its content is text/x-python"},
		{"a.png", "", jpeg, "its content is image/jpeg"},
		{"a.png", "", svg, "its content is image/svg+xml"},
		{"a.gif", "", "GIF89a=1;alert(1)", "its content is text/plain"},
		{"a.bmp", "", "BM=1;alert(1)", "its content is text/plain"},
		{"a.docx", "", jar, "its content is application/java-archive"},
		{"a.docx", "", string(zipOf(t, part{"word/document.xml", ""}, part{"META-INF/MANIFEST.MF", ""})), "but its content is"},
		{"a.docx", "", string(zipOf(t, part{"a.txt", ""}, part{"b/word/document.xml", ""})), "its content is application/zip"},
		{"a.docx", "", string(zipOf(t, part{"xl/workbook.xml", ""}, part{"word/document.xml", ""})), "its content is"},
		{"a.xlsx", "", string(docxOf(t, "")), "its content is application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"a.xls", "", "a,b\n", "its content is text/"},
		{"a.ppt", "", olefile("\x09\x08\x10\x00\x00\x06\x05\x00"), "its content is application/vnd.ms-excel"},
		{"a.txt", "", "caf\x01\xE9", "but its content is"},
		{"a.txt", "", "MZ\x90\x00\x03", "but its content is"},
		{"a.txt", "", "a\x00b", "its content is of an unknown type"},
		{"a.csv", "", html, "its content is text/html"},
		{"a.csv", "", svg, "its content is image/svg+xml"},
		{"a.json", "", html, "its content is text/html"},
		{"a.json", "", "import os", "its content is text/plain"},
		{"a.json", "", "", "its content is empty"},
		{"a.html", "", "#!/bin/sh\nrm", "its content is text/x-shellscript"},
		{"a.html", "", svg, "its content is image/svg+xml"},
		{"a.rtf", "", "hi", "its content is text/plain"},
		{"a.exe", "", "MZ", `files with the extension ".exe" are not accepted`},
		{"a.svg", "image/svg+xml", svg, `files with the extension ".svg" are not accepted`},
		{"a.pdf.exe", "application/pdf", "%PDF-1.4", `".exe"`},
		{"a.pdf", "text/html", "%PDF-1.4\n\xFF", "has the extension of pdf, but the media type is text/html"},
		{"a", "application/zip", "PK", "files of media type application/zip are not accepted"},
		{"a", "", "hi", "neither an extension nor a media type"},
		{"a.d/b", "application/octet-stream", "hi", "neither an extension nor a media type"},
		{"a.pdf", "no media type", "%PDF-", `invalid media type "no media type"`},
	} {
		_, _, err := extract.Identify(c.name, c.declared, []byte(c.head))
		if !errors.Is(err, abi.InvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Identify(%q, %q, %.20q) = %v; want invalid_argument with %q", c.name, c.declared, c.head, err, c.want)
		}
	}
	_, _, err := extract.Identify("a.exe", "", nil)
	if hint := abi.FaultOf(err).Hint; !strings.Contains(hint, ".pdf, .docx, .txt") || !strings.Contains(hint, ".jpeg") {
		t.Errorf("the hint is %q; want the list of accepted formats", hint)
	}
}

func TestFormats(t *testing.T) {
	var extracts []string
	for _, f := range extract.Formats() {
		if f.Extracts {
			extracts = append(extracts, f.Name)
		}
		if got, ok := extract.Lookup(f.Name); !ok || !slices.Equal(got.Extensions, f.Extensions) {
			t.Errorf("Lookup(%q) = %v, %t", f.Name, got, ok)
		}
		f.Extensions[0], f.MediaTypes[0] = ".changed", "changed/by"
		if again, _ := extract.Lookup(f.Name); again.Extensions[0] == ".changed" || again.MediaTypes[0] == "changed/by" {
			t.Errorf("a change of the list that Formats returned affects %s; want no effect", f.Name)
		}
	}
	if want := []string{"pdf", "docx", "txt", "json"}; !slices.Equal(extracts, want) {
		t.Errorf("formats with text = %v; want %v", extracts, want)
	}
	if _, ok := extract.Lookup("exe"); ok {
		t.Error("Lookup(exe) is true")
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"report.pdf":                   "report.pdf",
		"../../etc/passwd":             "passwd",
		`C:\Users\me\report final.pdf`: "report final.pdf",
		`a/b\c.txt`:                    "c.txt",
		"..hidden.txt":                 "hidden.txt",
		" . name.txt . ":               "name.txt",
		"Résumé – 日本語 👩‍👩‍👧.docx": "Résumé – 日本語 👩‍👩‍👧.docx",
		"console.txt":            "console.txt",
		"com10.txt":              "com10.txt",
		strings.Repeat("a", 255): strings.Repeat("a", 255),
	} {
		if got, err := extract.CleanName(name); err != nil || got != want {
			t.Errorf("CleanName(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{
		"", ".", "..", "a/", `a\`, " ", strings.Repeat("a", 256), "caf\xE9.txt",
		"a\nb.txt", "a\x00.txt", "a\x7F.txt", "a\u0085.txt", "a\u2028.txt",
		"evil\u202Efdp.exe", "a\u2066b\u2069.txt", "a\u200Bb.txt", "a\uFEFF.txt", "a\U000E0041.txt",
		"CON", "con.txt", "nul .tar.gz", "Com1.pdf", "LPT³.x", "conin$",
	} {
		if got, err := extract.CleanName(name); !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("CleanName(%q) = %q, %v; want invalid_argument", name, got, err)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, name := range []string{"a.pdf", `..\con .txt`, "a\u202E.", " .\u00A0x. "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean, err := extract.CleanName(name)
		if err != nil {
			return
		}
		if clean == "" || len(clean) > extract.MaxNameBytes || !utf8.ValidString(clean) || strings.ContainsAny(clean, `/\`) ||
			clean[0] == '.' || strings.ContainsFunc(clean, unicode.IsControl) {
			t.Errorf("CleanName(%q) = %q", name, clean)
		}
		if again, err := extract.CleanName(clean); err != nil || again != clean {
			t.Errorf("CleanName(%q) = %q, %v; want it unchanged", clean, again, err)
		}
	})
}

func FuzzIdentify(f *testing.F) {
	for _, seed := range []string{png, jpeg, gif, bmp, html, svg, olefile("x"), "%PDF-1.4", `{"a":1}`, string(docxOf(f, ""))} {
		f.Add("a.pdf", "", []byte(seed))
		f.Add("a.docx", "text/plain", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name, declared string, head []byte) {
		for _, known := range extract.Formats() {
			for _, name := range []string{name, name + known.Extensions[0]} {
				got, mediaType, err := extract.Identify(name, declared, head)
				if err == nil && (!slices.Contains(got.MediaTypes, mediaType) || len(head) == 0 && !strings.HasPrefix(mediaType, "text/")) {
					t.Errorf("Identify(%q, %q) = %s, %s", name, declared, got.Name, mediaType)
				}
				if fault, ok := errors.AsType[*abi.Fault](err); err != nil && (!ok || fault.Code != abi.InvalidArgument || !utf8.ValidString(fault.Message)) {
					t.Errorf("Identify(%q, %q) = %v; want invalid_argument", name, declared, err)
				}
			}
		}
	})
}
