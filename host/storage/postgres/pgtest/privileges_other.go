//go:build !unix

package pgtest

import "os/exec"

// dropPrivileges returns errMissing, because this system is not supported.
func dropPrivileges(*exec.Cmd, string) error { return errMissing }
