// A promise that nobody handles was rejected with what cannot be told.
// expect: timeout
Promise.reject({ get message() { for (;;); } });
return 1;
