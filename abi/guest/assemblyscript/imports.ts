// The imports of the ABI. A negative result is the negated number of a fault.

@external("toolrun", "input_len")
export declare function input_len(): i32;
@external("toolrun", "input_read")
export declare function input_read(ptr: usize, offset: i32, len: i32): i32;
@external("toolrun", "context_len")
export declare function context_len(): i32;
@external("toolrun", "context_read")
export declare function context_read(ptr: usize, offset: i32, len: i32): i32;
@external("toolrun", "result_len")
export declare function result_len(): i32;
@external("toolrun", "result_read")
export declare function result_read(ptr: usize, offset: i32, len: i32): i32;
@external("toolrun", "output_write")
export declare function output_write(ptr: usize, len: i32): i32;
@external("toolrun", "context_write")
export declare function context_write(ptr: usize, len: i32): i32;
@external("toolrun", "error_write")
export declare function error_write(ptr: usize, len: i32): i32;
@external("toolrun", "log")
export declare function log_write(level: i32, ptr: usize, len: i32): i32;
