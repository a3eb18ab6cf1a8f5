package distribution

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// fetch has npm download the archive of a package into a folder that is empty, and returns its path.
func fetch(ctx context.Context, work, spec string) (archive string, err error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", abi.Faultf(abi.Unavailable, "the Python runtime is fetched by npm, which was not found").
			WithHint("install Node.js, which npm comes with, or run this where npm is on the PATH")
	}
	// To a file and not through a pipe, which a process that npm leaves behind would hold open.
	said, err := os.OpenFile(filepath.Join(work, "npm.log"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", folderFault(err)
	}
	defer said.Close()
	// Who configured npm did so for projects, where waiting for minutes is better than a failed build. Here a person waits.
	cmd := exec.CommandContext(ctx, npm, "pack", spec, "--pack-destination=.", "--ignore-scripts", "--loglevel=error",
		"--no-update-notifier", "--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
	cmd.Dir, cmd.Stderr = work, said
	cmd.WaitDelay = 5 * time.Second
	killAll(cmd)
	if err := cmd.Run(); err != nil {
		return "", npmFault(errorCode(said))
	}
	return archiveIn(work)
}

// archiveIn returns the one archive in a folder.
func archiveIn(work string) (string, error) {
	entries, err := os.ReadDir(work)
	if err != nil {
		return "", folderFault(err)
	}
	var found []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), ".tgz") { // a link is none
			found = append(found, filepath.Join(work, entry.Name()))
		}
	}
	if len(found) != 1 {
		return "", abi.Faultf(abi.Unavailable, "npm ended well, but left no archive of %s", Package).WithHint(hintSee)
	}
	return found[0], nil
}

const hintSee = "see what it does: npm pack " + Package + "@" + Version

// npm tells its error's code on a line of its own: in version 7 and before it wrote ERR! where it now says error.
var codeLine = regexp.MustCompile(`(?m)^npm (?:error|ERR!) code ([A-Z0-9_]{1,40})\s*$`)

// errorCode returns the code of the error that npm has written about, "" where it told none.
func errorCode(said *os.File) string {
	const most = 64 << 10
	text, err := io.ReadAll(io.NewSectionReader(said, 0, most))
	if err != nil {
		return ""
	}
	if found := codeLine.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

// npmFault says in words why npm failed, and what to do. npm's own text names folders and hosts of this machine.
func npmFault(code string) error {
	switch code {
	case "":
		return abi.Faultf(abi.Unavailable, "npm could not fetch %s", Package).
			WithHint(hintSee)
	case "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT", "ENETUNREACH", "EHOSTUNREACH":
		return abi.Faultf(abi.Unavailable, "npm could not reach its registry: %s", code).
			WithHint("check the network, and which registry npm is set to: npm config get registry")
	case "E404", "ETARGET":
		return abi.Faultf(abi.Unavailable, "the registry that npm is set to does not have %s %s: %s", Package, Version, code).
			WithHint("a mirror may lack it; see which registry it is: npm config get registry")
	case "E401", "E403":
		return abi.Faultf(abi.Unavailable, "the registry that npm is set to refuses to hand out %s: %s", Package, code).
			WithHint("log in to it: npm login")
	case "ENOSPC":
		return abi.Faultf(abi.Unavailable, "the disk is full: npm ended with %s", code).WithHint(hintSpace)
	}
	return abi.Faultf(abi.Unavailable, "npm could not fetch %s: %s", Package, code).
		WithHint(hintSee)
}
