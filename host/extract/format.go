package extract

import (
	"slices"
	"strings"
)

// Format is an accepted file format.
type Format struct {
	// Name is the name of the format. An example is "pdf".
	Name string
	// Extensions are the file name extensions in lower case, such as ".pdf". The first extension is
	// the most common extension.
	Extensions []string
	// MediaTypes are the media types that clients declare for files of this format. The first media
	// type is the canonical type. Some of the other types are also declared for files of other
	// formats.
	MediaTypes []string
	// Extracts is true if a Reader can extract text from files of this format.
	Extracts bool
}

// The constants are the names of the formats from which text is extracted.
const (
	formatPDF  = "pdf"
	formatDOCX = "docx"
	formatTXT  = "txt"
	formatJSON = "json"
)

// known contains a format, and a function that checks whether a file's content has this format.
type known struct {
	Format
	holds func(content) bool
}

const ooxml = "application/vnd.openxmlformats-officedocument."

// formats lists all accepted formats.
var formats = []known{
	{Format{formatPDF, []string{".pdf"}, []string{"application/pdf", "application/x-pdf"}, true}, content.isPDF},
	{Format{formatDOCX, []string{".docx"}, []string{ooxml + "wordprocessingml.document"}, true}, office("word/")},
	{Format{formatTXT, []string{".txt"}, []string{"text/plain"}, true}, content.isText},
	{Format{formatJSON, []string{".json"}, []string{"application/json", "text/json", "text/plain"}, true}, content.isJSON},
	// On a Windows machine with Excel, browsers declare the last media type of this list for CSV
	// files.
	{Format{"csv", []string{".csv"}, []string{"text/csv", "application/csv", "text/x-csv", "text/plain", "application/vnd.ms-excel"}, false}, content.isCSV},
	{Format{"xls", []string{".xls"}, []string{"application/vnd.ms-excel", "application/msexcel"}, false}, compound("application/vnd.ms-excel")},
	{Format{"xlsx", []string{".xlsx"}, []string{ooxml + "spreadsheetml.sheet"}, false}, office("xl/")},
	{Format{"ppt", []string{".ppt"}, []string{"application/vnd.ms-powerpoint", "application/mspowerpoint"}, false}, compound("application/vnd.ms-powerpoint")},
	{Format{"pptx", []string{".pptx"}, []string{ooxml + "presentationml.presentation"}, false}, office("ppt/")},
	{Format{"html", []string{".html", ".htm"}, []string{"text/html", "application/xhtml+xml", "text/plain"}, false}, content.isHTML},
	{Format{"png", []string{".png"}, []string{"image/png", "image/apng"}, false}, magic("image/png")},
	{Format{"jpg", []string{".jpg", ".jpeg"}, []string{"image/jpeg", "image/jpg", "image/pjpeg"}, false}, magic("image/jpeg")},
	{Format{"gif", []string{".gif"}, []string{"image/gif"}, false}, magic("image/gif")},
	{Format{"bmp", []string{".bmp"}, []string{"image/bmp", "image/x-bmp", "image/x-ms-bmp"}, false}, magic("image/bmp")},
	{Format{"rtf", []string{".rtf"}, []string{"application/rtf", "text/rtf", "application/x-rtf"}, false}, content.isRTF},
}

// Formats returns all accepted formats. The caller can modify the returned list.
func Formats() []Format {
	list := make([]Format, len(formats))
	for i, f := range formats {
		list[i] = f.clone()
	}
	return list
}

// Lookup returns the format with the given name.
func Lookup(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f.clone(), true
		}
	}
	return Format{}, false
}

func (f Format) clone() Format {
	f.Extensions, f.MediaTypes = slices.Clone(f.Extensions), slices.Clone(f.MediaTypes)
	return f
}

// byExtension returns the format with the given extension. The extension must be in lower case.
func byExtension(extension string) (known, bool) {
	i := slices.IndexFunc(formats, func(f known) bool { return slices.Contains(f.Extensions, extension) })
	if i < 0 {
		return known{}, false
	}
	return formats[i], true
}

// byMediaType returns the format whose canonical media type is the given type. If no format has
// this canonical type, byMediaType returns the first format that lists the type.
func byMediaType(mediaType string) (known, bool) {
	i := slices.IndexFunc(formats, func(f known) bool { return f.MediaTypes[0] == mediaType })
	if i < 0 {
		i = slices.IndexFunc(formats, func(f known) bool { return slices.Contains(f.MediaTypes, mediaType) })
	}
	if i < 0 {
		return known{}, false
	}
	return formats[i], true
}

// accepted returns a hint with the extensions of all formats.
func accepted() string {
	var list []string
	for _, f := range formats {
		list = append(list, f.Extensions...)
	}
	return strings.Join(list, ", ")
}
