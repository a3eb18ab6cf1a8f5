// Package extract checks uploaded files and extracts their text. The checks cover the format, the
// file name, and whether the content has the claimed format.
//
// [Identify] and [CleanName] run in the host's process. These two functions examine only the name
// of a file and its first bytes. The parsers are part of an [Engine], which is meant to run in
// worker processes; see engines.NewDocumentPool. A [Reader] uses such an engine to extract text. If
// a document makes its parser loop, exhaust memory or crash, only the extraction of this document
// fails.
//
// Text is extracted from PDF, DOCX, TXT and JSON. The text of a PDF consists of the text of its
// pages in visible order, with form fields and annotations. Pages are separated by form feeds.
// Images are not converted to text. The text of a DOCX consists of its headers, body, footnotes,
// endnotes and footers, without comments. If a file has no text, a [Reason] explains why.
package extract
