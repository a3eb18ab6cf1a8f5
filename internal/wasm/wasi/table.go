package wasi

import "github.com/tetratelabs/wazero/api"

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

type params []api.ValueType

// function is a function of preview 1 with its WebAssembly parameters and its handler. A string or
// a list takes two parameters: a pointer and a length. The last parameters are pointers to which
// the function writes its results, except the error number.
type function struct {
	name    string
	params  params
	handler handler
}

const procExitName = "proc_exit"

// functions contains all functions of preview 1 in the order of the specification.
var functions = []function{
	{"args_get", params{i32, i32}, argsGet},
	{"args_sizes_get", params{i32, i32}, argsSizesGet},
	{"environ_get", params{i32, i32}, environGet},
	{"environ_sizes_get", params{i32, i32}, environSizesGet},
	{"clock_res_get", params{i32, i32}, clockResGet},
	{"clock_time_get", params{i32, i64, i32}, clockTimeGet},
	{"fd_advise", params{i32, i64, i64, i32}, onStdio(errSpipe)},
	{"fd_allocate", params{i32, i64, i64}, onStdio(errNodev)},
	{"fd_close", params{i32}, fdClose},
	{"fd_datasync", params{i32}, onStdio(errInval)},
	{"fd_fdstat_get", params{i32, i32}, fdFdstatGet},
	{"fd_fdstat_set_flags", params{i32, i32}, fdFdstatSetFlags},
	{"fd_fdstat_set_rights", params{i32, i64, i64}, onStdio(errNotsup)},
	{"fd_filestat_get", params{i32, i32}, fdFilestatGet},
	{"fd_filestat_set_size", params{i32, i64}, onStdio(errInval)},
	{"fd_filestat_set_times", params{i32, i64, i64, i32}, onStdio(errNotsup)},
	{"fd_pread", params{i32, i32, i32, i64, i32}, onStdio(errSpipe)},
	{"fd_prestat_get", params{i32, i32}, onStdio(errBadf)},
	{"fd_prestat_dir_name", params{i32, i32, i32}, onStdio(errBadf)},
	{"fd_pwrite", params{i32, i32, i32, i64, i32}, onStdio(errSpipe)},
	{"fd_read", params{i32, i32, i32, i32}, fdRead},
	{"fd_readdir", params{i32, i32, i32, i64, i32}, onStdio(errNotdir)},
	{"fd_renumber", params{i32, i32}, fdRenumber},
	{"fd_seek", params{i32, i64, i32, i32}, onStdio(errSpipe)},
	{"fd_sync", params{i32}, onStdio(errInval)},
	{"fd_tell", params{i32, i32}, onStdio(errSpipe)},
	{"fd_write", params{i32, i32, i32, i32}, fdWrite},
	{"path_create_directory", params{i32, i32, i32}, onStdio(errNotdir)},
	{"path_filestat_get", params{i32, i32, i32, i32, i32}, onStdio(errNotdir)},
	{"path_filestat_set_times", params{i32, i32, i32, i32, i64, i64, i32}, onStdio(errNotdir)},
	{"path_link", params{i32, i32, i32, i32, i32, i32, i32}, onStdio(errNotdir)},
	{"path_open", params{i32, i32, i32, i32, i32, i64, i64, i32, i32}, onStdio(errNotdir)},
	{"path_readlink", params{i32, i32, i32, i32, i32, i32}, onStdio(errNotdir)},
	{"path_remove_directory", params{i32, i32, i32}, onStdio(errNotdir)},
	{"path_rename", params{i32, i32, i32, i32, i32, i32}, onStdio(errNotdir)},
	{"path_symlink", params{i32, i32, i32, i32, i32}, pathSymlink},
	{"path_unlink_file", params{i32, i32, i32}, onStdio(errNotdir)},
	{"poll_oneoff", params{i32, i32, i32, i32}, pollOneoff},
	{procExitName, params{i32}, procExit},
	{"proc_raise", params{i32}, answer(errNotsup)},
	{"sched_yield", params{}, schedYield},
	{"random_get", params{i32, i32}, randomGet},
	{"sock_accept", params{i32, i32, i32}, onStdio(errNotsock)},
	{"sock_recv", params{i32, i32, i32, i32, i32, i32}, onStdio(errNotsock)},
	{"sock_send", params{i32, i32, i32, i32, i32}, onStdio(errNotsock)},
	{"sock_shutdown", params{i32, i32}, onStdio(errNotsock)},
}
