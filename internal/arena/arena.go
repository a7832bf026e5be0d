// Package arena says what an arena is: a contest rebuilt, with its app, data,
// benchmarker and rules. Members register themselves in init; arenas/all
// links them.
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

	// Files is laid into the work folder as "webapp/": sources, sql, public files, keys.
	Files fs.FS
	// Generate writes the data that is not carried as files (initial SQL,
	// images, the benchmarker's copy) into the work folder's webapp and data
	// directories; it is called when GeneratedVersion differs from what the
	// folder holds, and must write the same bytes every time.
	Generate         func(ctx context.Context, webapp, data string) error
	GeneratedVersion string

	Database Database
	App      App
	// NginxConf is the path in Files of the server's configuration: a
	// text/template over Places.
	NginxConf string

	// Scenario makes the benchmarker.
	Scenario func(o Options) (scenario.Scenario, error)
	// Mock serves stand-ins of the contest's external services on an address,
	// as in "127.0.0.1:5000", for people who try the app by hand, until ctx is
	// done. say is told what happens. nil where a contest has none.
	Mock func(ctx context.Context, address string, say func(line string)) error
	// Answers is answers.txt: the known causes as finding codes, best first.
	Answers string
	// Allow are the promises that the contest's rules let changes weaken; its
	// README says which rule.
	Allow             []iikanji.Promise
	InitializeTimeout time.Duration
}

// A Database says what the app expects to find. Its schema and data are
// loaded by the app's own initialize.
type Database struct {
	Name, User, Password string
	// Conf are lines for the [mariadbd] section, as the contest's server had them.
	Conf string
}

// An App says how to build and start the web application.
type App struct {
	Source string // directory in Files with package main
	Dir    string // working directory in Files when it runs
	// Public is the folder in Files with what the app serves as it is, laid out
	// as the URLs are; empty where there is none.
	Public string
	// Env gives the app's environment, as "K=V".
	Env func(p Places) []string
	// Ready is a path that answers once the app is up (any status).
	Ready string
	// Programs are what the app calls beyond itself, as in "mysql": where one
	// is missing, the stack says so before it starts anything.
	Programs []string
	// Load tells how the database is filled before the app first answers:
	// a command in Files, run in its own directory with the app's
	// environment; empty when only initialize does it.
	Load string
}

// Places are the addresses of one running stack.
type Places struct {
	Dir        string // the work folder
	Conf       string // Dir/conf, absolute; nginx.d/ in it is for files that the config includes
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

// URL is where the contest's web server answers.
func (p Places) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", p.NginxPort) }

// Options configure a benchmarker.
type Options struct {
	// Data is the folder with the benchmarker's copy of the initial data;
	// generated there when it is empty or of another version.
	Data string
	// Serve is the address on which the benchmarker serves the contest's
	// external services, as in "127.0.0.1:0".
	Serve string
	// ServeURL is how the target reaches Serve; empty means http://<Serve>.
	ServeURL string
	// Addresses are further hosts of the target, host:port; empty means the URL's only.
	Addresses []string
	// Key is a private key file that replaces the arena's own, for deployments
	// with another one; empty means the arena's.
	Key string
	// Clock replaces the speed of virtual time where it is above 0.
	Clock float64
	// NoLoad ends the run after the checks.
	NoLoad bool
}

var registry = map[string]*Arena{}

// Register makes an arena known. It is called from init only and panics when
// a name is taken.
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
