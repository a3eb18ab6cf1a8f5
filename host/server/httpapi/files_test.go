package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// connect sends the head of a request and returns the first line of the response.
func (s *service) connect(head string) (c net.Conn, status string) {
	s.t.Helper()
	c, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		s.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "%s\r\nHost: a\r\n\r\n", head); err != nil {
		s.t.Fatal(err)
	}
	status, err = bufio.NewReaderSize(c, 16).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	return c, strings.TrimSpace(strings.TrimPrefix(status, "HTTP/1.1 "))
}

// Uploads in progress leave memory for the uploads of other owners, even before the server has read
// a byte.
func TestUploadMemoryIsBounded(t *testing.T) {
	s := newService(t)
	s.api.SetFileMemory(64 << 20)
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"user_id":"ann","session_id":"s"}`)
	const small = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n--x--\r\n"
	upload := func(who string, status int) reply {
		t.Helper()
		return s.want(status, who, "POST", "/api/v1/sessions/s/files?user_id=ann", small, "Content-Type", "multipart/form-data; boundary=x")
	}
	for _, size := range []string{"Content-Length: 16777216", "Transfer-Encoding: chunked"} {
		c, status := s.connect("POST /api/v1/sessions/s/files?user_id=ann HTTP/1.1\r\nAuthorization: Bearer operator\r\n" +
			"Content-Type: multipart/form-data; boundary=x\r\nExpect: 100-continue\r\n" + size)
		if status != "100 Continue" { // the server reads the body from here on
			t.Fatalf("a large upload = %s", status)
		}
		r := upload("operator", 429)
		s.isProblem(r, abi.Unavailable)
		if r.Header.Get("Retry-After") == "" || !contains(r, `"hint"`) {
			t.Errorf("%s has no hint", r)
		}
		upload("ann", 201)
		_ = c.Close()
		for s.ask("operator", "POST", "/api/v1/sessions/s/files?user_id=ann", small, "Content-Type", "multipart/form-data; boundary=x").StatusCode != 201 {
		} // the memory of the uploads is released
	}
}

// uploadLarge uploads a file of "ann" that is larger than socket buffers, and returns the id of the
// file and the path of its URL.
func (s *service) uploadLarge() (id, path string) {
	s.t.Helper()
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"user_id":"ann","session_id":"s"}`)
	large := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n" + strings.Repeat("a,b\n", 18<<18) + "\r\n--x--\r\n"
	var file struct {
		ID  string `json:"file_id"`
		URL string `json:"download_url"`
	}
	s.want(201, "ann", "POST", "/api/v1/sessions/s/files", large, "Content-Type", "multipart/form-data; boundary=x").into(s.t, &file)
	address, err := url.Parse(file.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	return file.ID, address.RequestURI()
}

// The memory of stalled downloads is limited.
func TestDownloadMemoryIsBounded(t *testing.T) {
	s := newService(t)
	id, path := s.uploadLarge()
	s.api.SetFileMemory(800 << 10)
	if _, status := s.connect("GET " + path + " HTTP/1.1"); status != "200 OK" {
		t.Fatalf("a download = %s", status)
	}
	r := s.want(429, "", "GET", path, "")
	s.isProblem(r, abi.Unavailable)
	s.want(429, "ann", "GET", "/api/v1/sessions/s/files/"+id, "")
	s.want(http.StatusOK, "ann", "GET", "/api/v1/sessions/s/files", "")
}

// If the file is deleted during a download, the download ends, and the response is shorter than its
// Content-Length.
func TestDownloadEndsWithItsFile(t *testing.T) {
	for name, address := range map[string]func(id, path string) string{
		"by its address":   func(_, path string) string { return path },
		"with credentials": func(id, _ string) string { return "/api/v1/sessions/s/files/" + id },
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			id, path := s.uploadLarge()
			whole := s.want(http.StatusOK, "ann", "GET", "/api/v1/sessions/s/files/"+id, "")
			if len(whole.body) != 18<<20 || whole.ContentLength != 18<<20 {
				t.Fatalf("the file has %d bytes; its Content-Length is %d", len(whole.body), whole.ContentLength)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+address(id, path), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer ann")
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			s.want(http.StatusOK, "ann", "DELETE", "/api/v1/sessions/s/files/"+id, "")
			if n, err := io.Copy(io.Discard, response.Body); !errors.Is(err, io.ErrUnexpectedEOF) || response.ContentLength != 18<<20 {
				t.Errorf("the download of a file that was deleted has %d bytes, %v", n, err)
			}
		})
	}
}
