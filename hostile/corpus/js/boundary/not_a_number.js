// A number that JSON has no word for is written as null, with a warning.
// expect: output {"price":null}
return { price: 0 / 0 };
