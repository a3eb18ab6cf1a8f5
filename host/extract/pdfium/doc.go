// Package pdfium extracts the text of PDF files. The package uses PDFium, the PDF library of
// Chromium, compiled to WebAssembly.
//
// The library is written in C++ and its input is untrusted. The library therefore runs as a guest
// of wazero with limits on memory and instructions. Each document is read in a new instance, so a
// document cannot affect other documents.
package pdfium
