package topology

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/settings"
)

// An addressing finds by which variable an app has the host of a server alone.
type addressing struct {
	files []settings.File
	env   map[string]string
	ours  func(settings.Connection) bool // whether a connection is to the server
}

// A named is the variable that decides the host of all connections to the server.
type named struct{ variable, user, place string }

// canary is a host that no app has.
const canary = "iikanji-canary.invalid"

// mostCandidates bounds the variables that are tried: the source is read anew with each.
const mostCandidates = 40

var (
	quotedName = regexp.MustCompile("[\"'`]([A-Z][A-Z0-9_]{2,40})[\"'`]")
	envCall    = regexp.MustCompile(`(?:process\.env\.|env:"|envconfig:")([A-Z][A-Z0-9_]{2,40})`)
	hostName   = regexp.MustCompile(`(?i)host|addr|server`)
)

// find is nil without an error for an app that does not connect to the server. A connection
// whose host no variable has alone is an error with its place.
func (a *addressing) find() (*named, error) {
	var mine []settings.Connection
	for _, c := range a.connections(nil) {
		if a.ours(c) {
			mine = append(mine, c)
		}
	}
	if len(mine) == 0 {
		return nil, nil
	}
	for _, name := range a.candidates() {
		if a.leads(name, mine) {
			return &named{name, mine[0].User.Value, mine[0].Where()}, nil
		}
	}
	c := mine[0]
	if c.Socket.Value != "" {
		return nil, fmt.Errorf("%s connects by the socket %s: give it a variable with the host, and the port", c.Where(), c.Socket.Value)
	}
	return nil, fmt.Errorf("%s has the host %s in a way that no variable decides alone: read it from a variable such as DB_HOST", c.Where(), c.Host.Value)
}

// connections evaluates the source with variables in place of those of the process.
func (a *addressing) connections(instead map[string]string) []settings.Connection {
	layers := []settings.Layer{{Name: "probe", Values: instead}, {Name: "process", Values: a.env}}
	return append(goapp.Connections(a.files, layers), settings.Read(a.files, layers)...)
}

// candidates are the variables that may have the host: those of the process and those that
// the source names, with a name of a host first.
func (a *addressing) candidates() []string {
	seen := map[string]bool{}
	for _, f := range a.files {
		for _, re := range []*regexp.Regexp{quotedName, envCall} {
			for _, m := range re.FindAllStringSubmatch(f.Text, -1) {
				seen[m[1]] = true
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(seen), func(x, y string) int {
		if by := rank(x) - rank(y); by != 0 {
			return by
		}
		return strings.Compare(x, y)
	})
	return all[:min(len(all), mostCandidates)]
}

func rank(name string) int {
	if hostName.MatchString(name) {
		return 0
	}
	return 1
}

// leads reports whether a variable decides the host of all connections to the server, and
// nothing else of them.
func (a *addressing) leads(name string, mine []settings.Connection) bool {
	now := a.connections(map[string]string{name: canary})
	for _, c := range mine {
		i := slices.IndexFunc(now, func(o settings.Connection) bool { return o.Where() == c.Where() })
		if i < 0 {
			return false
		}
		o := now[i]
		if o.Host.Value != canary || o.Port.Value != c.Port.Value || o.User.Value != c.User.Value || o.Schema.Value != c.Schema.Value || o.Socket.Value != "" {
			return false
		}
	}
	return true
}
