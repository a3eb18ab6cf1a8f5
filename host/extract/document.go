package extract

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
)

// DocumentTextBytes is the maximum number of bytes of the UTF-8 text that ReadDocument returns.
const DocumentTextBytes = 4 << 20

// documentHint is the hint in the fault for a file whose text cannot be extracted.
const documentHint = "use a file in one of the formats PDF, DOCX, TXT, Markdown and JSON"

// markdownTypes are the media types of Markdown.
var markdownTypes = []string{"", "text/markdown", "text/x-markdown", "text/plain"}

// IdentifyDocument works like Identify, but for files whose text is needed. IdentifyDocument also
// accepts Markdown and treats it as plain text. IdentifyDocument rejects formats from which no text
// can be extracted.
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

// ReadDocument checks a file like IdentifyDocument and then returns the file's text like Read.
// Unlike Read, ReadDocument ignores TextBytes and returns at most DocumentTextBytes bytes. If the
// file has no text, ReadDocument returns a fault. If the Reader is nil, ReadDocument supports only
// formats that are already text. For any other format, ReadDocument of a nil Reader returns a fault
// with the code unavailable.
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

// NeedsParser reports whether an Engine is needed to extract text from files of a format.
func NeedsParser(format Format) bool { return format.Name == formatPDF || format.Name == formatDOCX }

// Fault returns the fault for a file whose text is needed but cannot be extracted.
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
