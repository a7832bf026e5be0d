package arena

import "fmt"

// Places are the folders of one running stack and the addresses of its
// services. All paths are absolute.
type Places struct {
	Dir    string // the work folder
	Conf   string // configurations
	Webapp string // the arena's files, see Arena.Files
	Run    string // pid files and sockets; emptied before each start
	Tmp    string // temporary files; emptied before each start
	Logs   string
	// Entry is the name of the service that clients send their requests to.
	Entry    string
	Services map[string]Place
}

// A Place is where one service of a running stack is. What the service does not
// have is empty.
type Place struct {
	Name    string
	Port    int            // on 127.0.0.1
	Ports   map[string]int // further ports by name
	Socket  string         // unix socket
	Address string         // "127.0.0.1:" and Port
	TLS     bool           // it speaks HTTPS
	// Cert and Key are the files of its certificate, which signs itself, if TLS is set.
	Cert, Key string
	Config    string // main configuration file
	DropIns   string // folder of the files that Config includes
	Data      string // folder of the service
	Binary    string // what Build made
	Logs      map[string]string
	// Schema, User and Password are those of the database that the site uses.
	Schema, User, Password string
}

// A View is what the templates of a service see: {{.Run}} and the other places,
// {{.Self.Port}} of the service itself, {{(.Service "app").Address}} of another.
type View struct {
	Places
	Self Place
	Out  string // where Build puts the program; empty elsewhere
	MiB  int64  // limit of the data of a cache on demand, in its Start only
}

// Service returns the place of a service. It panics if the arena declares no
// service of that name.
func (p Places) Service(name string) Place {
	place, ok := p.Services[name]
	if !ok {
		panic(fmt.Sprintf("BUG: the arena has no service %q", name))
	}
	return place
}

// URL is the base URL of the contest's web server.
func (p Places) URL() string {
	entry := p.Services[p.Entry]
	if entry.TLS {
		return "https://" + entry.Address
	}
	return "http://" + entry.Address
}

// Log returns the path of the service's log of a kind. It panics if the arena
// declares no such log.
func (p Place) Log(kind string) string {
	path, ok := p.Logs[kind]
	if !ok {
		panic(fmt.Sprintf("BUG: service %s has no log %q", p.Name, kind))
	}
	return path
}
