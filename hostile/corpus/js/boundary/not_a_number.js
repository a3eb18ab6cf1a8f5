// A number that JSON has no word for, and which becomes null if nobody looks.
// expect: output_invalid
return { price: 0 / 0 };
