// Package pdfium extracts the text of PDF files. The package uses PDFium, which is the PDF library
// of Chromium. PDFium is compiled to WebAssembly.
//
// PDFium is written in C++ and reads untrusted documents. Therefore PDFium runs as a guest of
// wazero, and the guest's memory and instructions are limited. Each document is read in a new
// instance, so a document cannot affect other documents.
package pdfium
