package target

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Limit is what iikanji does not do for a part of a site.
type Limit struct {
	Service string         `json:"service"`
	Engine  iikanji.Engine `json:"engine,omitempty"`
	Seen    string         `json:"seen,omitempty"` // what was seen of it, as in "Apache at 0.0.0.0:80"
	Says    string         `json:"says"`
	Instead string         `json:"instead,omitempty"` // what to do meanwhile
}

// Text is the limit in a few sentences. The first one has what was seen, and what to do.
func (l Limit) Text() string {
	text := "service " + l.Service + ": "
	if l.Seen != "" && l.Instead != "" {
		return text + l.Seen + " was seen; " + l.Instead + ". " + upper(l.Says) + "."
	}
	return strings.TrimSuffix(text+l.Says+". "+upper(l.Instead), " ")
}

// upper is a sentence with a capital at its beginning, unless that is a command of iikanji.
func upper(text string) string {
	if text == "" || strings.HasPrefix(text, "iikanji ") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// EnginePostgreSQL is PostgreSQL, of which iikanji reads logs only.
const EnginePostgreSQL iikanji.Engine = "postgresql"

// PostgreSQL says what is not done for a PostgreSQL at an address, "" if that is not known. log
// is its log, "" if that is not known either.
func PostgreSQL(service, at, schema, log string) Limit {
	dsn := "postgres://USER@" + cmp.Or(Reachable(at), "HOST") + "/" + cmp.Or(schema, "DATABASE")
	if strings.HasPrefix(at, "/") {
		dsn = "postgres:///" + cmp.Or(schema, "DATABASE") + "?host=" + path.Dir(at)
	}
	return Limit{service, EnginePostgreSQL, "PostgreSQL" + atAddress(at),
		"its statements, indexes and settings are neither diagnosed nor changed yet",
		fmt.Sprintf("for its slowest statements type: iikanji slow --dsn %s (pg_stat_statements), or, with log_min_duration_statement = 0: iikanji slow %s", dsn, cmp.Or(log, "LOG"))}
}

// atAddress is " at ADDRESS" for an address that is known.
func atAddress(address string) string {
	if address == "" {
		return ""
	}
	return " at " + address
}

// Limits lists the services of a file that iikanji does not, or not wholly, diagnose
// and change, databases first.
func (f *File) Limits() []Limit {
	var databases, webs, apps []Limit
	for _, s := range f.Services {
		switch {
		case s.Role == iikanji.RoleDatabase && s.Engine == EnginePostgreSQL:
			databases = append(databases, PostgreSQL(s.Name, cmp.Or(s.Listen, s.Socket), s.Database.Schema, s.Logs.Slow))
		case s.Role == iikanji.RoleDatabase && !s.Engine.MySQLFamily() && s.Engine != iikanji.EngineSQLite:
			databases = append(databases, Limit{s.Name, s.Engine, engineName(s.Engine) + atAddress(cmp.Or(s.Listen, s.Socket)), "its statements are neither diagnosed nor changed", "look for its slow queries with its own tools"})
		case s.Role == iikanji.RoleWeb && s.Engine != "" && s.Engine != iikanji.EngineNginx && s.Engine != engineEnvoy:
			webs = append(webs, otherWeb(&s))
		case s.Role == iikanji.RoleApp && s.Engine != iikanji.EngineGo:
			apps = append(apps, Limit{Service: s.Name, Engine: s.Engine, Says: fmt.Sprintf("the code of an app in %s is neither diagnosed nor changed: "+
				"what is seen are its requests, its statements and its CPU", engineName(s.Engine))})
		}
	}
	return slices.Concat(databases, webs, apps)
}

// engineEnvoy is a proxy whose counters are read; changes of it are a person's work.
const engineEnvoy iikanji.Engine = "envoy"

func engineName(e iikanji.Engine) string {
	if e == "" {
		return "a language that was not recognized"
	}
	return string(e)
}
