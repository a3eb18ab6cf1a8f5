package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

func (s *scanner) fail(pointer, format string, args ...any) {
	s.errs = append(s.errs, &Error{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// references collects the references of one schema. The references are resolved when all names are
// known.
func (s *scanner) references(object map[string]any, pointer string, base *url.URL) {
	for _, keyword := range refKeywords {
		value, ok := object[keyword]
		if !ok {
			continue
		}
		at := join(pointer, keyword)
		spelled, ok := value.(string)
		if !ok {
			s.fail(at, "the value of %s must be a string", keyword)
			continue
		}
		target, err := base.Parse(spelled)
		if err != nil {
			s.fail(at, "the value of %s is not a URL", keyword)
			continue
		}
		s.refs = append(s.refs, reference{pointer: at, url: target, owner: object, keyword: keyword})
	}
}

// resolve checks that a reference refers to the same document. A JSON Pointer may refer to a schema
// under an unknown keyword, such as "#/components/schemas/Pet". If a JSON Pointer refers to a
// schema under an unknown keyword, resolve also scans that schema.
func (s *scanner) resolve(ref reference) {
	bare := *ref.url
	bare.Fragment, bare.RawFragment = "", ""
	home, ok := s.resources[bare.String()]
	if !ok {
		s.errs = append(s.errs, &Error{
			Pointer: ref.pointer,
			Message: "the " + ref.keyword + " refers to another document",
			Hint:    "copy the target into `$defs`, and write the reference as `#/$defs/...`",
		})
		return
	}
	fragment, ok := fragmentPointer(ref.url.EscapedFragment())
	if !ok {
		return // an anchor
	}
	s.respell(ref, fragment)
	target := home + fragment
	if s.seen[target] {
		return
	}
	value, ok := lookup(s.root, target)
	if !ok {
		s.errs = append(s.errs, s.dangling(ref, fragment, target))
		return
	}
	switch value.(type) {
	case map[string]any, bool:
	default:
		s.fail(ref.pointer, "the %s refers to a value that is not a schema", ref.keyword)
		return
	}
	s.targets = append(s.targets, target)
	s.named++
	s.strays += size(value) // the library processes the value again for each such reference
	base, _ := url.Parse(s.resource(target))
	s.schema(value, target, base)
}

// respell escapes the fragment of a reference in the same way as the library.
func (s *scanner) respell(ref reference, fragment string) {
	spelled, ok := ref.owner[ref.keyword].(string)
	if !ok {
		return
	}
	for i := range len(spelled) {
		if spelled[i] == '#' {
			ref.owner[ref.keyword] = spelled[:i] + "#" + pointerFragment(fragment)
			return
		}
	}
}

// dangling returns the mistake for a reference without a target. The hint of the mistake lists
// existing targets.
func (s *scanner) dangling(ref reference, fragment, target string) *Error {
	at := strings.LastIndexByte(target, '/')
	hint := "declare the schema in `$defs`, and write the reference as `#/$defs/...`"
	if holder, ok := lookup(s.root, target[:max(at, 0)]); ok {
		if named, ok := holder.(map[string]any); ok && at >= 0 && len(s.errs) < maxMistakes {
			hint = cmp.Or(suggestion(unescaper.Replace(target[at+1:]), sortedKeys(named)), hint)
		}
	}
	return &Error{
		Pointer: ref.pointer,
		Message: fmt.Sprintf("the target of the %s %q does not exist in the document", ref.keyword, short60("#"+fragment)),
		Hint:    hint,
	}
}
