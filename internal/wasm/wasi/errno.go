package wasi

// An errno is what a function answers: the errors of POSIX under the numbers of preview 1.
type errno uint16

// The errors that guests can get.
const (
	success    errno = 0
	errBadf    errno = 8  // not an open descriptor, or not open for this
	errFault   errno = 21 // a pointer or a length leaves the memory
	errInval   errno = 28
	errIO      errno = 29
	errNodev   errno = 43
	errNotdir  errno = 54
	errNotsock errno = 57
	errNotsup  errno = 58
	errSpipe   errno = 70 // has no position
)
