// A pair whose halves come from two texts is whole again.
// expect: output "\ud83d\ude00"
const half = "\ud83d";
return half + "\ude00";
