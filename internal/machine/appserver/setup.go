package appserver

import "fmt"

// A Server is a program that runs an app in processes and threads.
type Server string

// The servers that are known.
const (
	Gunicorn Server = "gunicorn"
	Uvicorn  Server = "uvicorn"
	Puma     Server = "puma"
	Unicorn  Server = "unicorn"
	Node     Server = "node"
	PM2      Server = "pm2"
)

// A Place is what decides a setting.
type Place string

// The places, in the order of precedence.
const (
	Command     Place = "command"     // an option of the command line
	Variable    Place = "variable"    // a variable of the environment
	File        Place = "file"        // the configuration file
	Default     Place = "default"     // nothing: the server's default
	Unavailable Place = "unavailable" // the server has no such setting
)

// A Setting is the number of processes or threads.
type Setting struct {
	Now   int // 0 if unknown
	Place Place
	// Name is the option or the variable; with Place Default, the variable that
	// would decide, "" without one.
	Name string
}

// A Setup is how an app server runs.
type Setup struct {
	Server  Server
	PID     int // of the master, or of the only process
	Workers Setting
	Threads Setting // of each worker
	// Config is the path of the configuration file, "" without one.
	Config string
	Args   []string // the command line; nil if the server has overwritten it
	// Options is the value of gunicorn's variable with options.
	Options string
	Dir     string // the working folder
	// Children are the worker processes; empty where the master serves itself.
	Children []int
	// Serves is the number of processes that answer requests now.
	Serves int
	// Private is the memory in bytes that the largest of them shares with no other
	// process or would stop sharing when it writes: the price of one more.
	Private int64
}

// An UnreadableError is a setting whose place has a form that is not known.
type UnreadableError struct {
	Server Server
	Where  string // file and line, or what was looked for
	What   string
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s of %s: %s cannot be read", e.What, e.Server, e.Where)
}

// A NotServerError is the error for a process of an unknown kind.
type NotServerError struct{ PID int }

func (e *NotServerError) Error() string {
	return fmt.Sprintf("process %d is no gunicorn, uvicorn, puma, unicorn, pm2 or program of Node.js with cluster", e.PID)
}

// defaults are the settings of a server that nothing sets. Name is the variable that
// the server reads before it uses the default.
var defaults = map[Server]struct {
	workers, threads Setting
}{
	Gunicorn: {Setting{1, Default, "WEB_CONCURRENCY"}, Setting{1, Default, ""}},
	Uvicorn:  {Setting{1, Default, "WEB_CONCURRENCY"}, Setting{1, Unavailable, ""}},
	Puma:     {Setting{0, Default, "WEB_CONCURRENCY"}, Setting{5, Default, "PUMA_MAX_THREADS"}},
	Unicorn:  {Setting{1, Default, ""}, Setting{1, Unavailable, ""}},
	Node:     {Setting{1, Unavailable, ""}, Setting{1, Unavailable, ""}},
	PM2:      {Setting{1, Default, ""}, Setting{1, Unavailable, ""}},
}
