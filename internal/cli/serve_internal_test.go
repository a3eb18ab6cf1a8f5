package cli

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// TestOpenLinksRefusesOpenSecret checks that openLinks fails if other users can read or write the
// secret.
func TestOpenLinksRefusesOpenSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	out := &console{env: Env{Dir: t.TempDir()}.withDefaults()}
	database := filepath.Join(t.TempDir(), "memory.db")
	open := func() error {
		_, err := openLinks(out, &serveFlags{}, database, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
		return err
	}
	if err := open(); err != nil { // the first call creates the secret
		t.Fatal(err)
	}
	for mode, sound := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o644: false, 0o660: false, 0o602: false, 0o666: false} {
		if err := os.Chmod(database+".link-key", mode); err != nil {
			t.Fatal(err)
		}
		err := open()
		if sound && err != nil {
			t.Errorf("a secret of mode %o: %v", mode, err)
		}
		if f, ok := errors.AsType[*abi.Fault](err); !sound && (!ok || f.Code != abi.InvalidArgument || f.Hint == "") {
			t.Errorf("a secret of mode %o: %v; want a fault with a hint", mode, err)
		}
	}
}
