package abl

import (
	"math"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // FORMAT_DATE works on machines without time zone files

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

func formatFunctions() []function {
	return []function{
		fn("MASK(text, pattern, char?)", mask),
		fn("FORMAT_CURRENCY(n, currency, locale?)", formatCurrency),
		fn("FORMAT_DATE(date, format, zone?)", formatDate),
		fn("ORDINAL(n)", ordinal),
	}
}

var maskPattern = lazyregexp.New(`^(?:(first|last)(\d{1,2})|(\d{1,2})\*(\d{1,2}))$`)

// mask replaces characters of a text. A pattern such as "last4", "first4" or "4*4" selects the
// characters that are not replaced. If the pattern selects all characters, they are all replaced.
func mask(c *invocation) (any, error) {
	s, err := c.str(0)
	if err != nil {
		return nil, err
	}
	with, err := c.str(2)
	if err != nil {
		return nil, err
	}
	if with == "" {
		with = "*"
	}
	form, err := c.str(1)
	if err != nil {
		return nil, err
	}
	first, last, ok := maskForm(form)
	if !ok {
		c.ev.warnf(c.at, "the pattern of the function %s is not `lastN`, `firstN` or `N*N`; the whole text is masked", c.name)
	}
	if err := c.ev.charge(len(s) / 64); err != nil {
		return nil, err
	}
	runes := []rune(s)
	if first+last >= len(runes) {
		first, last = 0, 0
	}
	hidden := len(runes) - first - last
	if hidden > 4*MaxTextChars/len(with) {
		return nil, ErrTooLong
	}
	return c.ev.produce(string(runes[:first]) + strings.Repeat(with, hidden) + string(runes[len(runes)-last:]))
}

// maskForm returns how many characters a pattern shows at the start and at the end of a text.
func maskForm(form string) (first, last int, ok bool) {
	m := maskPattern().FindStringSubmatch(form)
	if m == nil {
		return 0, 0, false
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	switch m[1] {
	case "first":
		return number(m[2]), 0, true
	case "last":
		return 0, number(m[2]), true
	default:
		return number(m[3]), number(m[4]), true
	}
}

// currencies maps a currency code to the symbol and the number of decimals of the currency. If the
// map does not contain a currency, an amount has two decimals and is preceded by the currency code.
var currencies = map[string]struct {
	symbol   string
	decimals int
}{
	"USD": {"$", 2}, "EUR": {"€", 2}, "GBP": {"£", 2}, "JPY": {"¥", 0}, "INR": {"₹", 2}, "CNY": {"CN¥", 2}, "KRW": {"₩", 0},
}

// formatCurrency formats an amount in the format of American English. If the argument "n" is not a
// number, formatCurrency returns "".
func formatCurrency(c *invocation) (any, error) {
	n, ok := c.number(0)
	if !ok {
		return "", nil
	}
	code, err := c.str(1)
	if err != nil {
		return nil, err
	}
	if locale, _ := c.arg(2).(string); !isUnset(c.arg(2)) && !strings.HasPrefix(locale, "en") {
		c.ev.warnf(c.at, "the function %s supports only English locales", c.name)
	}
	if err := c.ev.charge(4); err != nil {
		return nil, err
	}
	code = strings.ToUpper(strings.TrimSpace(code))
	currency, known := currencies[code]
	if !known {
		currency.symbol, currency.decimals = code+" ", 2
	}
	amount := groupThousands(strconv.FormatFloat(math.Abs(n), 'f', currency.decimals, 64))
	if n < 0 && strings.Trim(amount, "0.,") != "" {
		return c.ev.produce("-" + currency.symbol + amount)
	}
	return c.ev.produce(currency.symbol + amount)
}

func groupThousands(s string) string {
	whole, fraction, found := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		whole += "." + fraction
	}
	return whole
}

var dateTokens = strings.NewReplacer("YYYY", "\x002006", "MM", "\x0001", "DD", "\x0002", "HH", "\x0015", "mm", "\x0004", "ss", "\x0005")

// formatDate formats a date in UTC or in a named time zone. The format can contain the tokens
// "YYYY", "MM", "DD", "HH", "mm" and "ss". If the argument is not a date, formatDate returns "".
func formatDate(c *invocation) (any, error) {
	texts, err := c.strs()
	if err != nil {
		return nil, err
	}
	t, ok := parseDate(texts[0])
	if !ok {
		c.ev.warnf(c.at, "argument 1 of the function %s is not a date", c.name)
		return "", nil
	}
	if err := c.ev.charge(10 + len(texts[1])/4); err != nil {
		return nil, err
	}
	t = t.UTC()
	if len(texts) > 2 && texts[2] != "" {
		if err := c.ev.charge(1000); err != nil {
			return nil, err
		}
		if zone, err := time.LoadLocation(texts[2]); err == nil && texts[2] != "Local" && len(texts[2]) < 64 {
			t = t.In(zone)
		} else {
			c.ev.warnf(c.at, "argument 3 of the function %s is not a known time zone; the result is in UTC", c.name)
		}
	}
	var b strings.Builder
	for i, part := range strings.Split(dateTokens.Replace(strings.ReplaceAll(texts[1], "\x00", "")), "\x00") {
		if i == 0 {
			b.WriteString(part)
			continue
		}
		size := 2
		if strings.HasPrefix(part, "2006") {
			size = 4
		}
		b.WriteString(t.Format(part[:size]) + part[size:])
	}
	return c.ev.produce(b.String())
}

// ordinal returns an ordinal number, such as "1st" or "2nd". If the argument is not a number,
// ordinal returns "".
func ordinal(c *invocation) (any, error) {
	n, ok := c.number(0)
	if !ok {
		return "", nil
	}
	n = math.Trunc(n) + 0
	suffix := "th"
	if tens := math.Mod(math.Abs(n), 100); tens < 11 || tens > 13 {
		switch math.Mod(math.Abs(n), 10) {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return formatNumber(n) + suffix, nil
}
