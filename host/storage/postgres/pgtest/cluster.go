package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// errMissing is the reason why a test is skipped if PostgreSQL is not installed.
var errMissing = errors.New("PostgreSQL 14 or later is not installed: no initdb in PATH or /usr/lib/postgresql/*/bin")

// oldest is the oldest supported major version.
const oldest = 14

// Cluster is a PostgreSQL cluster that the tests of a process share. The zero Cluster is ready to
// use and safe for concurrent use. A Cluster must be a package variable, because the PostgreSQL
// cluster stops when the Cluster is garbage-collected.
//
// The cluster listens only on a Unix socket in its own directory, and does not sync to the disk.
// When the process ends, the cluster stops and the directory of the cluster is removed, even if the
// process was killed with SIGKILL.
type Cluster struct {
	once    sync.Once
	err     error
	folder  string
	alive   io.Closer // a pipe, which stops the cluster when it is closed
	shell   *exec.Cmd
	schemas atomic.Int64
}

// DSN returns the connection string of a new, empty schema. The first call starts the cluster,
// which takes about two seconds. If PostgreSQL is not installed, DSN skips the test.
func (c *Cluster) DSN(t testing.TB) string {
	t.Helper()
	c.once.Do(func() { c.err = c.start() })
	if errors.Is(c.err, errMissing) {
		t.Skip(c.err)
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
	schema := "test" + strconv.FormatInt(c.schemas.Add(1), 10)
	query := url.Values{"host": {c.folder}, "user": {"toolrun"}, "search_path": {schema}}
	return "postgres:///postgres?" + query.Encode()
}

// script is a shell script that runs a cluster. $1 is the directory of the PostgreSQL programs, and
// $2 is the directory of the cluster. The script reports when the cluster is ready. When the input
// of the script ends, the script stops the cluster.
const script = `
run() {
	"$1/initdb" -D "$2/data" -U toolrun -A trust -E UTF8 --locale=C -N &&
	"$1/pg_ctl" -D "$2/data" -w -t 60 -l "$2/server.log" start -o "-k '$2' -c listen_addresses= -c autovacuum=off -c fsync=off -c full_page_writes=off"
}
run "$1" "$2" >"$2/log" 2>&1 && echo ready || { cat "$2/log" "$2/server.log" 2>/dev/null; exec >&-; }
cat >/dev/null
"$1/pg_ctl" -D "$2/data" -w -m immediate stop >/dev/null 2>&1
rm -rf "$2"
`

func (c *Cluster) start() error {
	programs, err := findPrograms("/usr/lib/postgresql")
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", script, "pgtest", programs, folder)
	cmd.Dir, cmd.Env = folder, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	if err := dropPrivileges(cmd, folder); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	c.folder, c.alive, c.shell = folder, stdin, cmd
	output := bufio.NewReader(stdout)
	if line, _ := output.ReadString('\n'); line != "ready\n" {
		rest, _ := io.ReadAll(output)
		return fmt.Errorf("start PostgreSQL: %s%s", line, rest)
	}
	return nil
}

// findPrograms returns the directory of the PostgreSQL programs. If PATH does not contain the
// programs, the result is the directory of the newest version in the argument "versions".
func findPrograms(versions string) (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob(filepath.Join(versions, "*", "bin", "initdb"))
	if err != nil {
		return "", err
	}
	newest, programs := oldest-1, ""
	for _, path := range found {
		folder := filepath.Dir(path)
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if err == nil && version > newest && !strings.Contains(folder, "'") {
			newest, programs = version, folder
		}
	}
	if programs == "" {
		return "", errMissing
	}
	return programs, nil
}
