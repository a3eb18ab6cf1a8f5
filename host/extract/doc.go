// Package extract checks uploaded files and extracts their text. The package checks the claimed
// format, the file name, and whether the content has the claimed format.
//
// [Identify] and [CleanName] run in the host's process. These two functions examine only the name
// of a file and its first bytes. An [Engine] contains the parsers. An Engine should run in worker
// processes; see engines.NewDocumentPool. A [Reader] uses such an engine to extract text. In a
// worker process, a document can make its parser loop, exhaust memory or crash. Then only the
// extraction of this document fails.
//
// Text is extracted from PDF, DOCX, TXT and JSON. The text of a PDF consists of the text of its
// pages in visible order, and includes the text of form fields and annotations. Pages are separated
// by form feeds. Images are not converted to text. The text of a DOCX consists of its headers,
// body, footnotes, endnotes and footers. Comments are omitted. If a file has no text, a [Reason]
// explains why.
package extract
