package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// page is a Markdown file with its anchors and links.
type page struct {
	sourceFile

	anchors map[string]bool
	links   []link
}

// link is a link to another file of the repository.
type link struct {
	line   int
	target string // as in the text
	file   string // the path of the file from the root of the repository
	anchor string
}

var (
	linkPattern    = regexp.MustCompile(`\]\(<?([^()\s>]+)>?(?:\s+"[^"]*")?\)`)
	headingPattern = regexp.MustCompile(`^#{1,6}\s+(.+?)\s*#*$`)
	idPattern      = regexp.MustCompile(`<a\s+(?:id|name)="([^"]+)"`)
	textOfLink     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	mention        = regexp.MustCompile(`\b(?:docs|sdk|abi|plugins)/[\w./-]+\.md(?:#[\w-]+)?`)
)

// pageSet is a set of pages by name.
type pageSet map[string]*page

// pagesOf returns the Markdown files in files.
func pagesOf(files []sourceFile) pageSet {
	pages := pageSet{}
	for _, f := range files {
		if path.Ext(f.name) == ".md" {
			pages[f.name] = newPage(f)
		}
	}
	return pages
}

func newPage(f sourceFile) *page {
	p := &page{sourceFile: f, anchors: map[string]bool{}}
	fence, n := "", 0
	for line := range strings.Lines(f.text) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"):
			fence = "```"
			continue
		}
		if m := headingPattern.FindStringSubmatch(trimmed); m != nil {
			p.addAnchor(slug(m[1]))
		}
		for _, m := range idPattern.FindAllStringSubmatch(line, -1) {
			p.anchors[m[1]] = true
		}
		for _, m := range linkPattern.FindAllStringSubmatch(line, -1) {
			p.addLink(n, m[1])
		}
	}
	return p
}

// addAnchor adds the anchor of a heading. If several headings have the same text, their anchors are
// numbered.
func (p *page) addAnchor(slug string) {
	name := slug
	for i := 1; p.anchors[name]; i++ {
		name = fmt.Sprintf("%s-%d", slug, i)
	}
	p.anchors[name] = true
}

func (p *page) addLink(line int, target string) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return
	}
	file, anchor, _ := strings.Cut(target, "#")
	if file == "" {
		file = p.name
	} else {
		file = path.Join(path.Dir(p.name), file)
	}
	p.links = append(p.links, link{line, target, file, anchor})
}

// slug returns the anchor that GitHub generates for a heading.
func slug(heading string) string {
	heading = textOfLink.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// brokenLinks returns a message for each broken link of a page, and for each reference in another
// file to a page that does not exist.
func brokenLinks(root string, files []sourceFile) (messages []string) {
	pages := pagesOf(files)
	for _, f := range files {
		if p := pages[f.name]; p != nil {
			for _, l := range p.links {
				if why := pages.broken(root, l.file, l.anchor); why != "" {
					messages = append(messages, fmt.Sprintf("%s:%d: link %s: %s", p.name, l.line, l.target, why))
				}
			}
			continue
		}
		for _, at := range mention.FindAllStringIndex(f.text, -1) {
			text := f.text[at[0]:at[1]]
			file, anchor, _ := strings.Cut(text, "#")
			if why := pages.broken(root, path.Clean(file), anchor); why != "" {
				messages = append(messages, fmt.Sprintf("%s:%d: %s: %s", f.name, lineOf(f.text, at[0]), text, why))
			}
		}
	}
	return messages
}

// broken returns the reason why a link is broken: a file or its anchor does not exist. If the link
// is not broken, the result is "".
func (pages pageSet) broken(root, file, anchor string) string {
	if p := pages[file]; p != nil {
		if anchor != "" && !p.anchors[anchor] {
			return "the page has no heading #" + anchor
		}
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil || strings.HasPrefix(file, "..") {
		return "the file does not exist"
	}
	if anchor != "" {
		return "only Markdown files have anchors"
	}
	return ""
}

// distant returns the pages that cannot be reached from a page within a number of clicks.
func (pages pageSet) distant(from string, clicks int) (names []string) {
	distance := map[string]int{from: 0}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		p := pages[queue[0]]
		if p == nil || distance[p.name] == clicks {
			continue
		}
		for _, l := range p.links {
			target := l.file
			if pages[target] == nil {
				target = path.Join(target, "README.md") // a link to a folder leads to the README of the folder
			}
			if _, seen := distance[target]; !seen && pages[target] != nil {
				distance[target] = distance[p.name] + 1
				queue = append(queue, target)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if _, reached := distance[name]; !reached {
			names = append(names, name)
		}
	}
	return names
}
