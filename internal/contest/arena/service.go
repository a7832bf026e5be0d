package arena

import (
	"context"
	"io/fs"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// A Service is one part of an arena's stack, as data: how it is built,
// configured, started and watched. A stack has any number of services of one
// role and of one engine. An empty field takes the default of the engine, see
// [Arena.Complete].
//
// Build, Start and Check are commands: a program and its arguments, without a
// shell. A program without a "/" is searched in the search path. Each word is a
// text/template over a [View].
type Service struct {
	Name   string // unique in the arena: lower-case letters, digits and "-"
	Role   iikanji.Role
	Engine iikanji.Engine

	// Source is the folder in Files with the program's source; "" for an
	// installed program.
	Source string
	// Dir is the working directory in Files when the service runs. By default it
	// is Source, then the folder Data, then the folder for pid files.
	Dir string
	// Build compiles the source, in the source folder, into the file {{.Out}}. It
	// runs when the source has changed. Without it a restart is enough.
	Build []string
	// Start runs the service in the foreground. Without it the service is no
	// process, as with SQLite: it has files only.
	Start []string
	// Serve is for a service that is a part of this program, such as the fixed side of a contest:
	// the stack starts this program again, and calls Serve in it until ctx is done. It is
	// instead of Start.
	Serve func(ctx context.Context, p Places) error
	// PerRun is for a program that the benchmarker starts for each run, see Here: the stack
	// only builds it. Start is its command.
	PerRun bool
	// Check tests the main configuration file, {{.Self.Config}}. Its exit status is
	// 0 if the file is valid.
	Check []string
	// Env returns the environment as "K=V", besides what every service gets.
	Env func(p Places) []string
	// Programs are further programs that the service or Load calls, as in "mysql".
	// A missing one is reported before anything is started.
	Programs []string

	// Configs are rendered into the folder conf. The first is the main one.
	Configs []Config
	// DropIns is a folder in conf whose files the main configuration includes.
	DropIns string
	// Data is a folder of the work folder that belongs to the service. It is made
	// before the first start, and again, empty, after --fresh.
	Data string
	// Originals is the folder in Files, or of what Generate writes beside them, with the
	// SQLite files that the site's initialize copies into Data; "" if there is none.
	Originals string
	// Load is a command in Files that fills what the service needs, before the
	// service starts. It runs in its own folder with the service's environment, once
	// for each version of the generated data and each new data folder. A line of its output
	// that is "loading" and a few words is shown as progress.
	Load string
	// Public is the folder in Files of the static files that the service could
	// serve unchanged, with the paths of their URLs; "" if there is none.
	Public string
	// Loads are the folders in Files with the SQL files that the site's initialize
	// loads into this database.
	Loads []string
	// Database is what the site uses of a database server.
	Database Database
	// Memory limits the data that a memcached, Redis or Varnish keeps, in bytes. By
	// default a cache keeps 64 MiB, or what the change that starts it has chosen; another
	// store has the limit of its engine.
	Memory int64
	// Backend is the name of the service to which a Varnish without a declared
	// configuration sends requests.
	Backend string

	// NoPort is for a service that listens on its socket only, or nowhere. Every
	// other service gets a free TCP port on 127.0.0.1.
	NoPort bool
	// TLS is set for a web server that speaks HTTPS, see Arena.TLS. The stack makes a
	// certificate for it, {{.Self.Cert}} and {{.Self.Key}}.
	TLS bool
	// Ports are the names of further ports, as for an administration port.
	Ports []string
	// Socket is the file name of the unix socket that the service makes; "" for none.
	Socket string
	Ready  Ready
	// Output is the file in the folder of logs for standard output and standard
	// error; Logs are the logs that the service writes, with those that are Output.
	Output string
	Logs   []Log
	// Stop are the signals that end the service. After the last wait it is killed.
	Stop []Stop

	// OnDemand is for a service that a change starts: it is down until its enable
	// file exists (see package stack). Its programs may be missing until then.
	OnDemand bool
}

// A Config is a configuration file. Its content is a text/template over a
// [View], which has no access to anything else.
type Config struct {
	File     string // path in the folder conf
	Template string // path in Files of the template; such a file is not laid out
	Text     string // the template itself, if Template is empty
}

// A Ready is how a service shows that it is up. With an empty Ready it is up when
// it accepts a connection, or, if it listens nowhere, when it was started. An app
// with a port must answer "/" by default, and a MariaDB the site's account.
type Ready struct {
	Path string // of a page that answers over HTTP, with any status
	// Send is sent on a connection, and the reply must begin with Expect, as in
	// "PING\r\n" and "+PONG".
	Send, Expect string
	Wait         time.Duration // limit of the time until then
}

// A Log is a file that a service writes.
type Log struct {
	Kind string // as in iikanji.Log: access, error, slow, output
	File string // in the folder of logs
}

// A Stop is one step to end a service: a signal, and the wait for its effect.
type Stop = process.Step

// A Database is the schema and the account that the site uses in a database
// server. The app's initialize loads schema and data.
type Database struct {
	Name, User, Password string
	// Conf are lines for the server's section of its configuration, as the
	// contest's server had them.
	Conf string
}

// A Variant is an arena with some other services, as with its app in another
// language.
type Variant struct {
	Name     string    // as in "ruby"
	Summary  string    // instead of the arena's, if it is not empty
	Services []Service // each replaces the service of its name, or is added
	// Ladder has the rows of a write-up for this variant, as Arena.Ladder; nil for none.
	Ladder fs.FS
}

// IsProcess reports whether the stack starts the service.
func (s *Service) IsProcess() bool { return (len(s.Start) > 0 || s.Serve != nil) && !s.PerRun }

// LogFile returns the file of the service's log of a kind, "" for none.
func (s *Service) LogFile(kind string) string {
	for _, l := range s.Logs {
		if l.Kind == kind {
			return l.File
		}
	}
	return ""
}

// MainConfig returns the path in conf of the main configuration, "" for none.
func (s *Service) MainConfig() string {
	if len(s.Configs) == 0 {
		return ""
	}
	return s.Configs[0].File
}
