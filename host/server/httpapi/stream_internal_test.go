package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A stream over HTTP/2 continues after it was idle for longer than the write timeout. In HTTP/2 an
// expired write deadline would close even an idle stream.
func TestSilentStreamOverHTTP2(t *testing.T) {
	const timeout = 50 * time.Millisecond
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e := &events{w: w, control: http.NewResponseController(w), timeout: timeout}
		e.send("log", 1)
		<-time.After(4 * timeout)
		e.send("result", 2)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.ProtoMajor != 2 || !strings.HasSuffix(string(text), "event: result\ndata: 2\n\n") {
		t.Errorf("the stream over %s is %q, %v; want both events", response.Proto, text, err)
	}
}
