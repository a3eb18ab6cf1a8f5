package distribution

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// fetch uses npm to download the archive of a package into an empty folder. The function returns
// the path of the archive.
func fetch(ctx context.Context, work, spec string) (archive string, err error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", abi.Faultf(abi.Unavailable, "cannot fetch the Python runtime: npm was not found").
			WithHint("install Node.js, which includes npm, or add the folder of npm to the variable PATH")
	}
	// The output of npm goes to a file instead of a pipe, because a child process that outlives npm
	// would keep the pipe open.
	stderr, err := os.OpenFile(filepath.Join(work, "npm.log"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", folderFault(err)
	}
	defer stderr.Close()
	// By default, npm retries a failed download for minutes, which is too long for a waiting user.
	cmd := exec.CommandContext(ctx, npm, "pack", spec, "--pack-destination=.", "--ignore-scripts", "--loglevel=error",
		"--no-update-notifier", "--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
	cmd.Dir, cmd.Stderr = work, stderr
	cmd.WaitDelay = 5 * time.Second
	killAll(cmd)
	if err := cmd.Run(); err != nil {
		return "", npmFault(errorCode(stderr))
	}
	return archiveIn(work)
}

// archiveIn returns the path of the only archive in a folder.
func archiveIn(work string) (string, error) {
	entries, err := os.ReadDir(work)
	if err != nil {
		return "", folderFault(err)
	}
	var found []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), ".tgz") { // links do not count
			found = append(found, filepath.Join(work, entry.Name()))
		}
	}
	if len(found) != 1 {
		return "", abi.Faultf(abi.Unavailable, "npm succeeded but wrote no archive of %s", Package).WithHint(hintSee)
	}
	return found[0], nil
}

const hintSee = "see the output of: npm pack " + Package + "@" + Version

// codeLine matches the line of npm's output that contains the error code. Up to version 7, npm
// prints ERR! instead of error.
var codeLine = lazyregexp.New(`(?m)^npm (?:error|ERR!) code ([A-Z0-9_]{1,40})\s*$`)

// errorCode returns the error code in npm's output. If the output contains no error code, errorCode
// returns "".
func errorCode(stderr *os.File) string {
	const maxBytes = 64 << 10
	text, err := io.ReadAll(io.NewSectionReader(stderr, 0, maxBytes))
	if err != nil {
		return ""
	}
	if found := codeLine().FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

// npmFault returns the fault for an error code of npm. npmFault omits npm's own message, because
// the message contains the names of folders and hosts.
func npmFault(code string) error {
	switch code {
	case "":
		return abi.Faultf(abi.Unavailable, "npm could not fetch %s", Package).
			WithHint(hintSee)
	case "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT", "ENETUNREACH", "EHOSTUNREACH":
		return abi.Faultf(abi.Unavailable, "npm could not reach its registry: %s", code).
			WithHint("check the network, and check npm's registry with `npm config get registry`")
	case "E404", "ETARGET":
		return abi.Faultf(abi.Unavailable, "npm's registry does not have %s %s: %s", Package, Version, code).
			WithHint("check with `npm config get registry` whether npm uses a mirror")
	case "E401", "E403":
		return abi.Faultf(abi.Unavailable, "npm's registry denied access to %s: %s", Package, code).
			WithHint("log in to the registry with `npm login`")
	case "ENOSPC":
		return abi.Faultf(abi.Unavailable, "the disk is full: npm failed with %s", code).WithHint(hintSpace)
	}
	return abi.Faultf(abi.Unavailable, "npm could not fetch %s: %s", Package, code).
		WithHint(hintSee)
}
