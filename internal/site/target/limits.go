package target

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Limit is what iikanji does not do for a part of a site.
type Limit struct {
	Service string         `json:"service"`
	Engine  iikanji.Engine `json:"engine,omitempty"`
	Says    string         `json:"says"`
	Instead string         `json:"instead,omitempty"` // what to do meanwhile
}

// Text is the limit as a sentence or two.
func (l Limit) Text() string {
	return strings.TrimSuffix(fmt.Sprintf("service %s: %s. %s", l.Service, l.Says, l.Instead), " ")
}

// EnginePostgreSQL is PostgreSQL, of which iikanji reads logs only.
const EnginePostgreSQL iikanji.Engine = "postgresql"

// PostgreSQL says what is not done for PostgreSQL.
func PostgreSQL(service string) Limit {
	return Limit{service, EnginePostgreSQL,
		"PostgreSQL is not supported yet: its statements, indexes and settings are neither diagnosed nor changed",
		"Its log shows the statements meanwhile: iikanji slow FILE, or iikanji slow --dsn postgres://… for pg_stat_statements"}
}

// Limits lists the services of a file that iikanji does not, or not wholly, diagnose
// and change, databases first.
func (f *File) Limits() []Limit {
	var databases, webs, apps []Limit
	for _, s := range f.Services {
		switch {
		case s.Role == iikanji.RoleDatabase && s.Engine == EnginePostgreSQL:
			databases = append(databases, PostgreSQL(s.Name))
		case s.Role == iikanji.RoleDatabase && !s.Engine.MySQLFamily() && s.Engine != iikanji.EngineSQLite:
			databases = append(databases, Limit{s.Name, s.Engine, fmt.Sprintf("%s is not supported: its statements are neither diagnosed nor changed", engineName(s.Engine)), ""})
		case s.Role == iikanji.RoleWeb && s.Engine != "" && s.Engine != iikanji.EngineNginx && s.Engine != engineEnvoy:
			webs = append(webs, Limit{s.Name, s.Engine, fmt.Sprintf("%s is not supported as a web server: its configuration is neither diagnosed nor changed", engineName(s.Engine)),
				"Its requests are seen where logs.access names its access log"})
		case s.Role == iikanji.RoleApp && s.Engine != iikanji.EngineGo:
			apps = append(apps, Limit{s.Name, s.Engine, fmt.Sprintf("the code of an app in %s is neither diagnosed nor changed: "+
				"what is seen are its requests, its statements and its CPU", engineName(s.Engine)), ""})
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
