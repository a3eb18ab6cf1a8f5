package cli

import (
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// junitSuite is a test suite in the format JUnit XML.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// junitCase is a test. Time is in seconds.
type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
}

// writeJUnit writes the results of tests to a file.
func writeJUnit(file string, results []testResult) error {
	suite := junitSuite{Name: "toolrun", Tests: len(results)}
	for _, r := range results {
		c := junitCase{Class: r.Tool, Name: r.Test, File: r.File, Line: r.Line, Time: fmt.Sprintf("%.3f", r.took.Seconds())}
		if !r.OK {
			suite.Failures++
			c.Failure = &junitFailure{Message: strings.ToValidUTF8(r.Message, "\ufffd")}
		}
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(xml.Header), append(text, '\n')...), 0o666)
}

// sortedNames returns the names of the members of an object.
func sortedNames(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }
