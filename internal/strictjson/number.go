package strictjson

// number scans a number token. number rejects short numbers that are expensive to process: for
// example, readers with arbitrary precision need seconds for 1e999999.
func (s *scanner) number() *Error {
	start := s.pos
	s.take('-')
	if !s.take('0') && s.digits() == 0 {
		return s.fail("expected a digit")
	}
	if s.take('.') && s.digits() == 0 {
		return s.fail("expected a digit after the decimal point")
	}
	exponent := 0
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		first := s.pos
		if s.digits() == 0 {
			return s.fail("expected a digit in the exponent")
		}
		exponent = magnitude(s.text[first:s.pos])
	}
	if s.pos-start > MaxNumberBytes {
		return s.failAt(start, BadNumber, "a number has more than 40 characters")
	}
	if exponent > MaxExponent {
		return s.failAt(start, BadNumber, "a number has an exponent above 308")
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	return s.pos - start
}

// magnitude returns the value of a text of decimal digits. If the value is greater than
// MaxExponent, the result can be any number greater than MaxExponent.
func magnitude(digits []byte) int {
	n := 0
	for _, c := range digits {
		if n = n*10 + int(c-'0'); n > MaxExponent {
			return n
		}
	}
	return n
}
