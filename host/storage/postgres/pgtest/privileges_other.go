//go:build !unix

package pgtest

import "os/exec"

// dropPrivileges is not supported on this system.
func dropPrivileges(*exec.Cmd, string) error { return errMissing }
