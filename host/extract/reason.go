package extract

import "errors"

// Reason is a stable code that says why a file has no text.
type Reason string

// The reasons.
const (
	// UnsupportedFormat is the reason of a format that no text is read from, such as a picture.
	UnsupportedFormat Reason = "unsupported_format"
	// Disabled is the reason of a service that reads no documents.
	Disabled Reason = "disabled"
	// NoText is the reason of a sound file that holds no text, such as a scan of pages.
	NoText Reason = "no_text"
	// Encrypted is the reason of a document that does not open without a password.
	Encrypted Reason = "encrypted"
	// Damaged is the reason of a document that is not well-formed.
	Damaged Reason = "damaged"
	// TooComplex is the reason of a document that exceeds a limit on time, memory or nesting.
	TooComplex Reason = "too_complex"
	// UnknownEncoding is the reason of a text file whose character encoding is not recognised.
	UnknownEncoding Reason = "unknown_encoding"
)

// textError is the error of a document without text. Its cause may quote the document, and stays inside this package.
type textError struct {
	reason Reason
	cause  error
}

// noText returns an error with a reason. One that has a reason already keeps it.
func noText(reason Reason, cause error) error {
	if e, ok := errors.AsType[*textError](cause); ok {
		return e
	}
	return &textError{reason, cause}
}

func (e *textError) Error() string { return string(e.reason) + ": " + e.cause.Error() }
func (e *textError) Unwrap() error { return e.cause }
