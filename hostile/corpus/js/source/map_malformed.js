// A source map within the source, which is no map.
// expect: output 1
return 1;
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEiXSwibWFwcGluZ3MiOiJ+fn5+fn47Ozs7IiwibmFtZXMiOm51bGx9
