package extract

import "errors"

// Reason is a code for the reason why a file has no text. The codes never change.
type Reason string

// The reasons.
const (
	// UnsupportedFormat means that text cannot be extracted from files of this format, such as
	// images.
	UnsupportedFormat Reason = "unsupported_format"
	// Disabled means that text extraction is disabled.
	Disabled Reason = "disabled"
	// NoText means that the file is valid but contains no text. An example is a file of scanned
	// pages.
	NoText Reason = "no_text"
	// Encrypted means that the document cannot be read without a password.
	Encrypted Reason = "encrypted"
	// Damaged means that the document is not well-formed.
	Damaged Reason = "damaged"
	// TooComplex means that the document exceeds a limit on time, memory or nesting.
	TooComplex Reason = "too_complex"
	// UnknownEncoding means that the file is a text file, but its character encoding is not
	// recognized.
	UnknownEncoding Reason = "unknown_encoding"
)

// textError is the error for a document from which no text was extracted. The cause of a textError
// can quote the document and must not be exposed outside of this package.
type textError struct {
	reason Reason
	cause  error
}

// noText returns a textError with a reason. If the cause of the error already has a reason, the
// textError has the reason of the cause.
func noText(reason Reason, cause error) error {
	if e, ok := errors.AsType[*textError](cause); ok {
		return e
	}
	return &textError{reason, cause}
}

func (e *textError) Error() string { return string(e.reason) + ": " + e.cause.Error() }
func (e *textError) Unwrap() error { return e.cause }
