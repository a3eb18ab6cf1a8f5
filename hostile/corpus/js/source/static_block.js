// The loop is in the making of a class.
// expect: timeout
class A { static { for (;;); } }
return new A();
