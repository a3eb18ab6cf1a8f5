package intl

import (
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // embeds the tz database, because worker processes cannot open files
)

// zone is a time zone.
type zone struct {
	name     string // in resolvedOptions
	cldr     string // in CLDR
	location *time.Location
}

// localZone returns the time zone of the process. If the zone is not UTC, its name is not known.
func localZone(location *time.Location) zone {
	_, winter := time.Date(2000, 1, 1, 0, 0, 0, 0, location).Zone()
	_, summer := time.Date(2000, 7, 1, 0, 0, 0, 0, location).Zone()
	if winter == 0 && summer == 0 {
		return zone{"UTC", "Etc/UTC", time.UTC}
	}
	_, offset := time.Now().In(location).Zone()
	return zone{name: time.Unix(0, 0).In(time.FixedZone("", offset)).Format("-07:00"), location: location}
}

// zoneNames maps the lower-case names of zones to the names that CLDR uses.
var zoneNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, line := range strings.Split(supplemental("zones"), "\n") {
		aliases := strings.Fields(line)
		for _, alias := range aliases {
			names[strings.ToLower(alias)] = aliases[0]
		}
	}
	return names
})

// zoneOf returns the zone with a given name. A zone can have several names.
func zoneOf(name string) (zone, error) {
	cldr, ok := zoneNames()[strings.ToLower(name)]
	if !ok || cldr == "Etc/Unknown" {
		return zone{}, rangeErrorf("Invalid time zone specified: %s", quoted(name))
	}
	if cldr == "Etc/GMT" {
		cldr = "Etc/UTC"
	}
	location, err := time.LoadLocation(cldr)
	if err != nil {
		return zone{}, unsupported("the time zone "+cldr, "use one of Intl.supportedValuesOf('timeZone')")
	}
	z := zone{cldr, cldr, location}
	if cldr == "Etc/UTC" {
		z.name = "UTC"
	}
	return z, nil
}

// reversed maps the names of some zones to a span of time in which the tz database treats the
// zone's winter time as daylight saving time, but CLDR does not. A span consists of two times in
// seconds.
var reversed = map[string][2]int64{"Europe/Dublin": {57722400, 1 << 62}, "Africa/Windhoek": {764200800, 1508803200}}

// zoneName returns the name that a zone has at a given time. The arguments "letter" and "count"
// describe the field of the pattern.
func (f *DateTimeFormat) zoneName(t time.Time, letter byte, count int) string {
	_, offset := t.Zone()
	if letter == 'O' {
		return f.offsetName(offset, count == 1)
	}
	width, kind := "short", "standard"
	if count >= 4 {
		width = "long"
	}
	span, ok := reversed[f.zone.cldr]
	if t.IsDST() != (ok && t.Unix() >= span[0] && t.Unix() < span[1]) {
		kind = "daylight"
	}
	table := f.locale.table
	if name := table.get("zonename/" + f.zone.cldr + "/" + width + "/" + kind); name != "" {
		return name
	}
	if meta := metazoneAt(f.zone.cldr, t); meta != "" {
		if name := table.get("metazone/" + meta + "/" + width + "/" + kind); name != "" && name != "∅∅∅" {
			return name
		}
	}
	return f.offsetName(offset, width == "short")
}

// metazoneAt returns the metazone to which a zone belongs at a given time. If no metazone exists,
// metazoneAt returns "".
func metazoneAt(name string, t time.Time) string {
	uses := supplemental("metazones/" + name)
	if uses == "" {
		return ""
	}
	now := t.UTC().Format("2006-01-02 15:04")
	if t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	for _, use := range strings.Split(uses, ";") {
		parts := strings.Split(use, ",")
		if firstOf(parts[1], "1970-01-01 00:00") <= now && (parts[2] == "" || now < parts[2]) {
			return parts[0]
		}
	}
	return ""
}

// offsetName formats an offset from UTC as a text such as GMT+5:30. The argument contains the
// offset in seconds.
func (f *DateTimeFormat) offsetName(offset int, short bool) string {
	table := f.locale.table
	positive, negative, _ := strings.Cut(table.get("zone/hourFormat"), ";")
	pattern := positive
	if offset < 0 {
		pattern, offset = negative, -offset
	}
	hours, minutes, seconds := offset/3600, offset/60%60, offset%60
	hourAt := strings.Index(pattern, "H")
	minuteAt := strings.Index(pattern, "mm")
	hourEnd := strings.LastIndex(pattern, "H") + 1
	text := pattern[:hourAt] + fmt.Sprintf("%02d", hours)
	if short {
		text = pattern[:hourAt] + fmt.Sprintf("%d", hours)
	}
	if !short || minutes != 0 || seconds != 0 {
		text += pattern[hourEnd:minuteAt] + fmt.Sprintf("%02d", minutes)
		if seconds != 0 {
			text += pattern[hourEnd:minuteAt] + fmt.Sprintf("%02d", seconds)
		}
		text += pattern[minuteAt+2:]
	}
	return strings.Replace(table.get("zone/gmtFormat"), "{0}", withDigits(text, f.digits), 1)
}
