// Every match of a long text, with its groups, in one array.
// expect: timeout or memory_limit
// needs: wall
return [..."ab".repeat(5e6).matchAll(/(?<first>a)(?<second>b)(?:)/g)].length;
