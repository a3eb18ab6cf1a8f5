package abl

import "strings"

func textFunctions() []function {
	return []function{
		fn("UPPER(text)", mapText(strings.ToUpper)),
		fn("LOWER(text)", mapText(strings.ToLower)),
		fn("TRIM(text)", mapText(strings.TrimSpace)),
		fn("SUBSTRING(text, start, end?)", substring),
		fn("REPLACE(text, find, replacement)", replace),
		fn("SPLIT(text, delimiter)", split),
		fn("JOIN(array, delimiter)", join),
		fn("PAD_START(text, length, char?)", pad(func(s, padding string) string { return padding + s })),
		fn("PAD_END(text, length, char?)", pad(func(s, padding string) string { return s + padding })),
		fn("REPEAT(text, count)", repeat),
	}
}

func mapText(change func(string) string) func(*invocation) (any, error) {
	return func(c *invocation) (any, error) {
		s, err := c.str(0)
		if err != nil {
			return nil, err
		}
		if err := c.ev.charge(len(s) / 32); err != nil { // the conversion of non-ASCII letters is slow
			return nil, err
		}
		return c.ev.produce(change(s))
	}
}

// substring returns the characters of a text from the position "start" up to the position "end".
// The character at "end" is not included. Positions count from 0. If a position is before the start
// of the text, it is moved to the start. If a position is after the end of the text, it is moved to
// the end.
func substring(c *invocation) (any, error) {
	s, err := c.str(0)
	if err != nil {
		return nil, err
	}
	if err := c.ev.charge(len(s) / 32); err != nil {
		return nil, err
	}
	runes := []rune(s)
	start := min(max(c.integer(1, 0), 0), len(runes))
	end := len(runes)
	if !isUnset(c.arg(2)) {
		end = min(max(c.integer(2, end), 0), end)
	}
	if end <= start {
		return "", nil
	}
	return c.ev.produce(string(runes[start:end]))
}

func replace(c *invocation) (any, error) {
	texts, err := c.strs()
	if err != nil {
		return nil, err
	}
	s, find, replacement := texts[0], texts[1], texts[2]
	if find == "" {
		return c.ev.produce(s)
	}
	n := strings.Count(s, find)
	if len(s)+n*(len(replacement)-len(find)) > 4*MaxTextChars {
		return nil, ErrTooLong
	}
	if err := c.ev.charge(n / 8); err != nil {
		return nil, err
	}
	return c.ev.produce(strings.ReplaceAll(s, find, replacement))
}

// split splits a text. If the delimiter is empty, the text is split into characters.
func split(c *invocation) (any, error) {
	texts, err := c.strs()
	if err != nil {
		return nil, err
	}
	count := strings.Count(texts[0], texts[1])
	if err := c.ev.charge(2 * (count + 1)); err != nil {
		return nil, err
	}
	parts := strings.Split(texts[0], texts[1])
	items := make([]any, len(parts))
	for i, part := range parts {
		items[i] = part
	}
	return items, nil
}

// join joins the texts of an array's items. If the argument is not an array, the result is "".
func join(c *invocation) (any, error) {
	items, _ := c.arg(0).([]any)
	delimiter, err := c.str(1)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, item := range items {
		s, err := c.ev.text(item)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString(delimiter)
		}
		b.WriteString(s)
		if b.Len() > 4*MaxTextChars {
			return nil, ErrTooLong
		}
		if err := c.ev.charge(1 + len(delimiter)/64); err != nil {
			return nil, err
		}
	}
	return c.ev.produce(b.String())
}

// pad returns a function that extends a text to a given number of characters. The padding is
// repeated, and the last repetition is truncated if necessary. Without a padding argument, the
// padding is a space.
func pad(combine func(s, padding string) string) func(*invocation) (any, error) {
	return func(c *invocation) (any, error) {
		s, err := c.str(0)
		if err != nil {
			return nil, err
		}
		padding := " "
		if !isUnset(c.arg(2)) {
			if padding, err = c.str(2); err != nil {
				return nil, err
			}
		}
		length := c.integer(1, 0)
		missing := length - chars(s)
		if missing <= 0 || padding == "" {
			return c.ev.produce(s)
		}
		if length > MaxTextChars {
			return nil, ErrTooLong
		}
		if err := c.ev.charge(missing / 8); err != nil {
			return nil, err
		}
		unit := []rune(padding)
		filled := make([]rune, missing)
		for i := range filled {
			filled[i] = unit[i%len(unit)]
		}
		return c.ev.produce(combine(s, string(filled)))
	}
}

func repeat(c *invocation) (any, error) {
	s, err := c.str(0)
	if err != nil {
		return nil, err
	}
	n := c.integer(1, 0)
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > 4*MaxTextChars/len(s) {
		return nil, ErrTooLong
	}
	return c.ev.produce(strings.Repeat(s, n))
}
