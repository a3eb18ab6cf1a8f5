package extract

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
)

// DocumentTextBytes is the maximum size of the text that ReadDocument returns, in bytes of UTF-8.
const DocumentTextBytes = 4 << 20

// documentHint is the hint for a file whose text cannot be extracted.
const documentHint = "use a file in one of the formats PDF, DOCX, TXT, Markdown and JSON"

// markdownTypes are the media types of Markdown.
var markdownTypes = []string{"", "text/markdown", "text/x-markdown", "text/plain"}

// IdentifyDocument is like Identify, for a file whose text is needed. IdentifyDocument also accepts
// Markdown, which it treats as plain text. IdentifyDocument rejects formats without text.
func IdentifyDocument(filename, declaredMediaType string, head []byte) (Format, error) {
	if slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(baseName(filename)))) {
		mediaType, err := declaredType(declaredMediaType)
		if err != nil {
			return Format{}, err
		}
		if !slices.Contains(markdownTypes, mediaType) {
			return Format{}, abi.Faultf(abi.InvalidArgument, "the file name has the extension of Markdown, but the media type is %s", shortened(mediaType))
		}
		filename, declaredMediaType = "document.txt", ""
	}
	format, _, err := Identify(filename, declaredMediaType, head)
	if f, ok := err.(*abi.Fault); ok && f.Hint != "" {
		return Format{}, f.WithHint(documentHint)
	}
	if err == nil && !format.Extracts {
		return Format{}, UnsupportedFormat.Fault()
	}
	return format, err
}

// ReadDocument returns the text of a file: at most DocumentTextBytes bytes, regardless of
// TextBytes. If a file has no text, ReadDocument returns a fault. ReadDocument otherwise behaves
// like IdentifyDocument and Read. A nil Reader reads only formats that are already text. For other
// formats, it returns the fault unavailable.
func (r *Reader) ReadDocument(ctx context.Context, of admission.Flow, filename, declaredMediaType string, data []byte) (Text, error) {
	format, err := IdentifyDocument(filename, declaredMediaType, data)
	if err != nil {
		return Text{}, err
	}
	var text Text
	switch {
	case r != nil:
		text, err = r.read(ctx, of, format, data, DocumentTextBytes)
	case len(data) > MaxBytes:
		return Text{}, abi.Faultf(abi.TooLarge, "the document has %d bytes; the limit is %d", len(data), MaxBytes)
	case NeedsParser(format):
		return Text{}, Disabled.Fault()
	default:
		text, err = plain(format, data, DocumentTextBytes)
	}
	if err == nil && text.Reason != "" {
		return Text{}, text.Reason.Fault()
	}
	return text, err
}

// NeedsParser reports whether an Engine is required to extract text from files of a format.
func NeedsParser(format Format) bool { return format.Name == formatPDF || format.Name == formatDOCX }

// Fault returns the fault for a file whose text is needed.
func (r Reason) Fault() *abi.Fault {
	switch r {
	case UnsupportedFormat:
		return abi.Faultf(abi.InvalidArgument, "no text can be extracted from files of this format").WithHint(documentHint)
	case Disabled:
		return abi.Faultf(abi.Unavailable, "text extraction from PDF and DOCX files is disabled").WithHint("convert the file to text, or start the service without --inprocess")
	case NoText:
		return abi.Faultf(abi.InvalidArgument, "the file has no text").WithHint("add text to the file; if the file contains images, such as scanned pages, convert the images to text")
	case Encrypted:
		return abi.Faultf(abi.InvalidArgument, "the document requires a password").WithHint("save the document without a password")
	case TooComplex:
		return abi.Faultf(abi.TooLarge, "the document exceeds a limit on time, memory or nesting").WithHint("divide the document into smaller files")
	case UnknownEncoding:
		return abi.Faultf(abi.InvalidArgument, "the character encoding of the file is not recognized").WithHint("save the file as UTF-8")
	}
	return abi.Faultf(abi.InvalidArgument, "the document is damaged")
}
