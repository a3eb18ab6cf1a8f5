package extract

import (
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// HeadBytes is the number of bytes that Identify examines.
const HeadBytes = 512 << 10

// Identify returns the format and the canonical media type of an uploaded file. The extension of
// the file's name determines the format. The declared media type must match the extension, unless
// it is "" or application/octet-stream. If the name has no extension, Identify uses only the media
// type.
//
// Identify then checks whether the content has the claimed format. The argument "head" contains the
// first HeadBytes bytes of the file, or the whole file if it is shorter. Identify does not check
// the rest of the file. If the format is unknown, or if the name, the media type and the content do
// not match, the error is a fault with the code invalid_argument.
func Identify(filename, declaredMediaType string, head []byte) (Format, string, error) {
	f, err := claimed(filename, declaredMediaType)
	if err != nil {
		return Format{}, "", err
	}
	if c := contentOf(head); !f.holds(c) {
		return Format{}, "", abi.Faultf(abi.InvalidArgument, "the file is declared as %s (%s), but its content is %s", f.Name, f.MediaTypes[0], c.name())
	}
	return f.Format.clone(), f.MediaTypes[0], nil
}

// claimed returns the format that the name and the media type of a file indicate.
func claimed(filename, declared string) (known, error) {
	mediaType, err := declaredType(declared)
	if err != nil {
		return known{}, err
	}
	extension := strings.ToLower(path.Ext(baseName(filename)))
	if extension == "" {
		return unnamed(mediaType)
	}
	f, ok := byExtension(extension)
	if !ok {
		return known{}, notTaken("files with the extension %q are not accepted", shortened(extension))
	}
	if mediaType != "" && !slices.Contains(f.MediaTypes, mediaType) {
		return known{}, abi.Faultf(abi.InvalidArgument, "the file name has the extension of %s, but the media type is %s", f.Name, shortened(mediaType))
	}
	return f, nil
}

// unnamed returns the format of a file whose name has no extension.
func unnamed(mediaType string) (known, error) {
	if mediaType == "" {
		return known{}, notTaken("the file has neither an extension nor a media type")
	}
	f, ok := byMediaType(mediaType)
	if !ok {
		return known{}, notTaken("files of media type %s are not accepted", shortened(mediaType))
	}
	return f, nil
}

// declaredType returns a media type without its parameters. If the media type contains no
// information, as application/octet-stream, declaredType returns "".
func declaredType(declared string) (string, error) {
	if strings.TrimSpace(declared) == "" {
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(declared)
	if err != nil && mediaType == "" { // invalid parameters are ignored
		return "", abi.Faultf(abi.InvalidArgument, "invalid media type %q", shortened(declared))
	}
	if mediaType == "application/octet-stream" {
		return "", nil
	}
	return mediaType, nil
}

func notTaken(format string, args ...any) error {
	return abi.Faultf(abi.InvalidArgument, format, args...).WithHint("use one of these formats: %s", accepted())
}

// shortened truncates a text that comes from a client, so that a message can contain the text.
func shortened(text string) string {
	const limit = 60
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
