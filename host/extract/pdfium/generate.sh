#!/bin/sh
# Fetches PDFium as WebAssembly from its package. The checksum is that of pdfium.wasm: whoever serves the package cannot change it.
set -eu
package=@embedpdf/pdfium@2.15.1
sha256=5e4cd023c3dad4a895b3571ca573d3fc51bac6de48360d95283134385b954eaa
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack "$package" --ignore-scripts --loglevel=error
tar xzf ./*.tgz
echo "$sha256  package/dist/pdfium.wasm" | sha256sum -c
gzip -9nc package/dist/pdfium.wasm >"$here/pdfium.wasm.gz"
cp package/LICENSE package/LICENSE.pdfium "$here"
