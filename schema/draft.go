package schema

import (
	"strings"
)

// draft is a version of JSON Schema.
type draft struct {
	version int
	url     string
	id      string // the keyword that names a schema
}

// refAlone is true if a $ref disables the keywords next to it, as in draft 7 and earlier.
func (d *draft) refAlone() bool { return d.version < 2019 }

// drafts lists the supported drafts. The first draft is the default.
var drafts = []*draft{
	{2020, "https://json-schema.org/draft/2020-12/schema", "$id"},
	{2019, "https://json-schema.org/draft/2019-09/schema", "$id"},
	{7, "http://json-schema.org/draft-07/schema", "$id"},
	{6, "http://json-schema.org/draft-06/schema", "$id"},
	{4, "http://json-schema.org/draft-04/schema", "id"},
}

// draftOf returns the draft that the $schema of a schema requests.
func draftOf(root any) (*draft, Errors) {
	object, ok := root.(map[string]any)
	if !ok {
		return drafts[0], nil
	}
	text, ok := object["$schema"]
	if !ok {
		return drafts[0], nil
	}
	url, _ := text.(string)
	for _, d := range drafts {
		if bareURL(url) == bareURL(d.url) {
			return d, nil
		}
	}
	return nil, oneError("/$schema", "the value of `$schema` is the URL of an unsupported draft",
		"omit `$schema` to use draft 2020-12, or use one of "+strings.Join(draftURLs(), ", "))
}

// bareURL removes the scheme and an empty fragment of a URL, because authors write them
// differently.
func bareURL(url string) string {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	return strings.TrimSuffix(url, "#")
}

func draftURLs() []string {
	urls := make([]string, len(drafts))
	for i, d := range drafts {
		urls[i] = d.url
	}
	return urls
}
