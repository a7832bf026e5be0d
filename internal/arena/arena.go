// Package arena defines an arena: a rebuilt contest with its app, data,
// benchmarker and rules. Arenas register themselves in init; arenas/all links
// them.
package arena

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/scenario"
)

// An Arena is one contest.
type Arena struct {
	Name    string // as in "isucondition"
	Title   string
	Summary string // one sentence

	// Files is the content of webapp/ in the work folder: sources, SQL, public
	// files, keys.
	Files fs.FS
	// Generate writes the data that Files does not contain (initial SQL, images,
	// the benchmarker's copy) into the folders webapp and data. It is called when
	// GeneratedVersion differs from the work folder's. It must write the same
	// bytes every time.
	Generate         func(ctx context.Context, webapp, data string) error
	GeneratedVersion string

	Database Database
	App      App
	// NginxConf is the path in Files of nginx's configuration, a text/template
	// over Places.
	NginxConf string

	// Scenario returns the benchmarker.
	Scenario func(o Options) (scenario.Scenario, error)
	// Settings are options of the benchmarker besides those that every arena has.
	Settings []Setting
	// Commands are further commands of the arena, as in a stand-in of an external
	// service for manual tests.
	Commands []Command
	// Answers is answers.txt: the known causes as finding codes, the best first.
	Answers string
	// AgentsChange is that of the target's policy.
	AgentsChange bool
	// Allow lists the promises that changes may weaken under the contest's rules.
	// The arena's README names the rules.
	Allow             []iikanji.Promise
	InitializeTimeout time.Duration
}

// A Database is the database that the app expects. The app's initialize loads
// its schema and data.
type Database struct {
	Name, User, Password string
	// Conf are lines for the [mariadbd] section, as the contest's server had them.
	Conf string
}

// A Command is a further command of an arena, run as "iikanji NAME".
type Command struct {
	Name     string
	Help     string // one sentence
	Detail   string // the long help
	Settings []Setting
	// Run runs until ctx is done. It calls say with each line of output, possibly
	// from several goroutines.
	Run func(ctx context.Context, set Values, say func(line string)) error
}

// An App describes how to build and start the web application.
type App struct {
	// Source is the folder in Files with package main, a Go module of its own.
	// Without a go.mod it can use the standard library only.
	Source string
	Dir    string // working directory in Files when it runs
	// Public is the folder in Files of the static files, with the paths of their
	// URLs; empty if there is none.
	Public string
	// Env returns the app's environment as "K=V".
	Env func(p Places) []string
	// Ready is a path that answers, with any status, once the app is up.
	Ready string
	// Programs are programs that the app or Load calls, as in "mysql". The stack
	// reports a missing one before it starts anything.
	Programs []string
	// Load is a command in Files that fills the database before the app starts.
	// It runs in its own folder with the app's environment. Empty means that only
	// initialize fills the database.
	Load string
}

// Places are the addresses of one running stack.
type Places struct {
	Dir        string // the work folder
	Conf       string // Dir/conf, absolute; its folder nginx.d is for files that nginx's configuration includes
	Webapp     string // Dir/webapp, absolute
	NginxPort  int    // on 127.0.0.1
	AppPort    int
	DBPort     int
	DBSocket   string
	AccessLog  string
	ErrorLog   string
	Run        string // folder for pid files and temporary files of nginx
	DBName     string
	DBUser     string
	DBPassword string
}

// URL is the base URL of the contest's web server.
func (p Places) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", p.NginxPort) }

// Options configure a benchmarker.
type Options struct {
	// Data is the folder with the benchmarker's copy of the generated data.
	Data string
	// Set are the values of the arena's Settings.
	Set Values
	// Addresses are further hosts of the target, host:port. Empty means the host
	// of the URL only.
	Addresses []string
	// Clock replaces the speed of virtual time if it is above 0.
	Clock float64
	// NoLoad ends the run after the checks.
	NoLoad bool
}

var registry = map[string]*Arena{}

// Register adds an arena. Call it from init only. It panics if the name is
// taken.
func Register(a *Arena) {
	if _, taken := registry[a.Name]; taken {
		panic("BUG: arena " + a.Name + " registered twice")
	}
	registry[a.Name] = a
}

// Find returns the arena of a name.
func Find(name string) (*Arena, bool) {
	a, ok := registry[name]
	return a, ok
}

// Names lists the arenas in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
