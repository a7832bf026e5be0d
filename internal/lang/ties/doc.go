// Package ties finds in the source of an app what ties it to one host: what two instances
// would not share, or what would not follow the app to another host. It reads texts only.
//
//	tie.go       the kinds of ties, and what each means for a second instance and for a move
//	source.go    Go: packages are parsed and checked without their dependencies
//	requests.go  Go: which functions answer requests, and which run at start
//	memory.go    Go: variables and fields that requests write and read
//	memo.go      Go: maps that only keep what was read elsewhere
//	uses.go      Go: what one body writes and reads
//	calls.go     Go: files, SQLite, sockets, keys, sessions
//	local.go     Go: addresses of this host
//	jobs.go      Go: jobs that run beside the requests
//	ours.go      Go: packages of iikanji by which the process keeps answers
//	scripts.go   Python, Ruby, JavaScript, PHP and shell, line by line
//
// A variable counts only where requests both write and read it: a counter that only a log
// prints, and a buffer that a goroutine of the same process empties, tie nothing. Types of
// other modules are unknown here; they are told by the path of their import. What a function
// of another module keeps in memory is not seen.
package ties
