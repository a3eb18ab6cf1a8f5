//go:build !unix

package pgtest

import "os/exec"

// dropPrivileges is for systems with Unix users.
func dropPrivileges(*exec.Cmd, string) error { return errMissing }
