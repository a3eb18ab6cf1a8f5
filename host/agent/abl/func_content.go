package abl

import (
	"strings"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

var (
	emailPattern = lazyregexp.New(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	urlPattern   = lazyregexp.New(`(?i)\b(?:https?://|www\.)[^\s<>"']+`)
	ssnPattern   = lazyregexp.New(`\b\d{3}-\d{2}-\d{4}\b`)
	cardPattern  = lazyregexp.New(`\b\d(?:[ -]?\d){12,18}\b`)
	phonePattern = lazyregexp.New(`(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)|\b\d{3})[ .-]\d{3}[ .-]\d{4}\b`)
)

// costOfPII is the cost of searching a text for personal data, in steps per byte of the text.
const costOfPII = 5

// contentFunctions returns the functions that search a text for personal data. The functions find
// only common forms. Therefore, they cannot prove that a text contains no personal data.
func contentFunctions() []function {
	test := func(usage string, stepsPerByte int, found func(string) bool) function {
		return fn(usage, func(c *invocation) (any, error) {
			s, err := c.str(0)
			if err != nil {
				return nil, err
			}
			if err := c.ev.charge(1 + stepsPerByte*len(s)); err != nil {
				return nil, err
			}
			return found(s), nil
		})
	}
	count := func(usage string, number func(string) int) function {
		return fn(usage, func(c *invocation) (any, error) {
			s, err := c.str(0)
			if err != nil {
				return nil, err
			}
			return float64(number(s)), c.ev.charge(1 + len(s)/16)
		})
	}
	return []function{
		test("CONTAINS_PII(text)", costOfPII, func(s string) bool { return redactPII(s) != s }),
		fn("REDACT_PII(text)", func(c *invocation) (any, error) {
			s, err := c.str(0)
			if err != nil {
				return nil, err
			}
			if err := c.ev.charge(1 + costOfPII*len(s)); err != nil {
				return nil, err
			}
			return c.ev.produce(redactPII(s))
		}),
		test("CONTAINS_URL(text)", 2, func(s string) bool { return urlPattern().MatchString(s) }),
		test("CONTAINS_EMAIL(text)", 2, func(s string) bool { return emailPattern().MatchString(s) }),
		test("CONTAINS_CODE(text)", 1, func(s string) bool { return strings.Contains(s, "```") }),
		count("WORD_COUNT(text)", func(s string) int { return len(strings.Fields(s)) }),
		count("SENTENCE_COUNT(text)", sentences),
	}
}

// sentences returns the number of sentences. A sentence ends with characters such as . before a space
// or the end of the text.
func sentences(s string) int {
	s = strings.TrimSpace(s)
	ends := 0
	for i := range len(s) {
		if isSentenceEnd(s[i]) && (i+1 == len(s) || strings.IndexByte(" \t\n\f\r", s[i+1]) >= 0) {
			ends++
		}
	}
	if s != "" && !isSentenceEnd(s[len(s)-1]) {
		ends++
	}
	return ends
}

func isSentenceEnd(c byte) bool { return c == '.' || c == '!' || c == '?' }

// redactPII replaces email addresses, card numbers, social security numbers and phone numbers.
func redactPII(s string) string {
	s = emailPattern().ReplaceAllString(s, "[EMAIL]")
	s = ssnPattern().ReplaceAllString(s, "[SSN]")
	s = cardPattern().ReplaceAllStringFunc(s, func(number string) string {
		if isCardNumber(number) {
			return "[CARD]"
		}
		return number
	})
	return phonePattern().ReplaceAllString(s, "[PHONE]")
}

// isCardNumber reports whether the digits of s have a valid Luhn checksum.
func isCardNumber(s string) bool {
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}
