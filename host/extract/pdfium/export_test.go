package pdfium

// Unpack returns the decompressed library.
var Unpack = unpack
