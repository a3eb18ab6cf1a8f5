package extract

import "errors"

// Reason is a stable code for the reason why a file has no text.
type Reason string

// The reasons.
const (
	// UnsupportedFormat is the reason for a format without text extraction, such as an image.
	UnsupportedFormat Reason = "unsupported_format"
	// Disabled is the reason if text extraction is disabled.
	Disabled Reason = "disabled"
	// NoText is the reason for a valid file without text, such as scanned pages.
	NoText Reason = "no_text"
	// Encrypted is the reason for a document that requires a password.
	Encrypted Reason = "encrypted"
	// Damaged is the reason for a document that is not well-formed.
	Damaged Reason = "damaged"
	// TooComplex is the reason for a document that exceeds a limit on time, memory or nesting.
	TooComplex Reason = "too_complex"
	// UnknownEncoding is the reason for a text file whose character encoding is not recognized.
	UnknownEncoding Reason = "unknown_encoding"
)

// textError is the error for a document without text. The cause of a textError can quote the
// document and must not be exposed outside of this package.
type textError struct {
	reason Reason
	cause  error
}

// noText returns an error with a reason. If the cause already has a reason, noText keeps that
// reason.
func noText(reason Reason, cause error) error {
	if e, ok := errors.AsType[*textError](cause); ok {
		return e
	}
	return &textError{reason, cause}
}

func (e *textError) Error() string { return string(e.reason) + ": " + e.cause.Error() }
func (e *textError) Unwrap() error { return e.cause }
