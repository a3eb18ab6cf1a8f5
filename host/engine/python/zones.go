package python

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:generate sh -c "gzip -9n <$GOROOT/lib/time/zoneinfo.zip >zoneinfo.zip.gz"

// packedZones contains Go's time zone database, compressed with gzip. In JavaScript tools, the
// object Intl uses the same database.
//
//go:embed zoneinfo.zip.gz
var packedZones []byte

// zoneFiles maps the names of time zones to time zone files (RFC 9636). The files have about 400
// KiB and are unpacked when a tool first needs a time zone. All runs of the process share the
// unpacked files.
var zoneFiles = sync.OnceValue(func() map[string][]byte {
	files, err := unpackZones()
	if err != nil {
		panic(err) // an error is impossible, because the archive is embedded
	}
	return files
})

func unpackZones() (map[string][]byte, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(packedZones))
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	all = bytes.Clone(all) // the copy does not have the unused capacity of ReadAll's result
	archive, err := zip.NewReader(bytes.NewReader(all), int64(len(all)))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(archive.File))
	for _, file := range archive.File {
		begin, err := file.DataOffset()
		if err != nil {
			return nil, err
		}
		if file.Method != zip.Store {
			return nil, fmt.Errorf("python: the file of time zone %s is compressed", file.Name)
		}
		files[strings.Clone(file.Name)] = all[begin : begin+int64(file.UncompressedSize64)]
	}
	return files, nil
}

// zoneFile returns the file of the time zone with a given name. If no such time zone exists,
// zoneFile returns false.
func zoneFile(name string) ([]byte, bool) {
	file, ok := zoneFiles()[name]
	return file, ok
}

// zoneNames returns the names of all time zones, one per line.
var zoneNames = sync.OnceValue(func() string {
	return strings.Join(slices.Sorted(maps.Keys(zoneFiles())), "\n")
})
