// An integer that no JSON reader need keep.
// expect: output_invalid
return { id: 12345678901234567890n };
