package schema

import (
	"strings"
)

// draft is a version of the JSON Schema language.
type draft struct {
	version int
	url     string
	id      string // the keyword that names a schema
}

// refAlone reports whether a $ref makes its siblings void, as it did until draft 7.
func (d *draft) refAlone() bool { return d.version < 2019 }

// drafts lists what $schema may say. A schema that says nothing is one of the first.
var drafts = []*draft{
	{2020, "https://json-schema.org/draft/2020-12/schema", "$id"},
	{2019, "https://json-schema.org/draft/2019-09/schema", "$id"},
	{7, "http://json-schema.org/draft-07/schema", "$id"},
	{6, "http://json-schema.org/draft-06/schema", "$id"},
	{4, "http://json-schema.org/draft-04/schema", "id"},
}

// draftOf returns the draft that a schema asks for.
func draftOf(root any) (*draft, Errors) {
	object, ok := root.(map[string]any)
	if !ok {
		return drafts[0], nil
	}
	said, ok := object["$schema"]
	if !ok {
		return drafts[0], nil
	}
	url, _ := said.(string)
	for _, d := range drafts {
		if bareURL(url) == bareURL(d.url) {
			return d, nil
		}
	}
	return nil, oneError("/$schema", "$schema names no draft that is supported",
		"leave it out for draft 2020-12, or use one of "+strings.Join(draftURLs(), ", "))
}

// bareURL leaves out what authors spell either way: the scheme and an empty fragment.
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
