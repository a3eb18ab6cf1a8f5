package extract

import (
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// HeadBytes is how much of the beginning of a file Identify looks at.
const HeadBytes = 512 << 10

// Identify says which format a file has that a client sent, and under which media type it is known. It goes by the
// extension of the name, which has to go with the media type that the client declared; "" and
// application/octet-stream declare nothing. A name without an extension leaves it to the media type alone.
//
// The content is then held against that: head is its beginning, HeadBytes of it or the whole. What claims to be one thing
// and is another is refused, and what is in no list of formats is. Whether the rest of a file is sound is found out by
// reading it. Faults have the code invalid_argument.
func Identify(filename, declaredMediaType string, head []byte) (Format, string, error) {
	f, err := claimed(filename, declaredMediaType)
	if err != nil {
		return Format{}, "", err
	}
	if c := contentOf(head); !f.holds(c) {
		return Format{}, "", abi.Faultf(abi.InvalidArgument, "the file claims to be %s (%s), but what is in it is %s", f.Name, f.MediaTypes[0], c.name())
	}
	return f.Format.clone(), f.MediaTypes[0], nil
}

// claimed is the format that a file is said to have.
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
		return known{}, notTaken("files whose names end in %q are not taken", shortened(extension))
	}
	if mediaType != "" && !slices.Contains(f.MediaTypes, mediaType) {
		return known{}, abi.Faultf(abi.InvalidArgument, "the file claims to be %s by its name and %s by its media type", f.Name, shortened(mediaType))
	}
	return f, nil
}

// unnamed is the format of a file that has no extension.
func unnamed(mediaType string) (known, error) {
	if mediaType == "" {
		return known{}, notTaken("the file has neither an extension nor a media type that says what it is")
	}
	f, ok := byMediaType(mediaType)
	if !ok {
		return known{}, notTaken("files of the media type %s are not taken", shortened(mediaType))
	}
	return f, nil
}

// declaredType is a media type without its parameters, "" where it says nothing.
func declaredType(declared string) (string, error) {
	if strings.TrimSpace(declared) == "" {
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(declared)
	if err != nil && mediaType == "" { // a mistake in the parameters alone does no harm
		return "", abi.Faultf(abi.InvalidArgument, "%q is no media type", shortened(declared))
	}
	if mediaType == "application/octet-stream" {
		return "", nil
	}
	return mediaType, nil
}

func notTaken(format string, args ...any) error {
	return abi.Faultf(abi.InvalidArgument, format, args...).WithHint("the files taken are %s", taken())
}

// shortened is the beginning of what a client sent, for a message.
func shortened(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
