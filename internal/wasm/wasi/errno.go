package wasi

// errno is the result of a function: a POSIX error, with the number that preview 1 assigns to it.
type errno uint16

// The functions return the following errors.
const (
	success    errno = 0
	errBadf    errno = 8  // the descriptor is not open, or is not open for this operation
	errFault   errno = 21 // a range is outside of the memory
	errInval   errno = 28
	errIO      errno = 29
	errNodev   errno = 43
	errNotdir  errno = 54
	errNotsock errno = 57
	errNotsup  errno = 58
	errSpipe   errno = 70 // not seekable
)
