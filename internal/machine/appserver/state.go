package appserver

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A StateKind is what an app keeps in the memory of its process.
type StateKind string

// The kinds of state. They differ in what a second process breaks.
const (
	Sessions   StateKind = "sessions"   // a second process does not know them
	Values     StateKind = "values"     // a second process keeps other ones
	Connection StateKind = "connection" // threads share it
)

// A State is one place in source where an app keeps state in the memory of its
// process between requests.
type State struct {
	Kind StateKind `json:"kind"`
	File string    `json:"file"` // relative to the folder of the source
	Line int       `json:"line"`
	Name string    `json:"name"`
}

func (s State) String() string {
	return fmt.Sprintf("%s in %s:%d (%s)", s.Kind, s.File, s.Line, s.Name)
}

// A language is how state between requests looks in source.
type language struct {
	// holder matches the making of a container that outlives a request; group 1 is
	// its name.
	holder *regexp.Regexp
	// writes are what follows the name where a function changes the container; %s is
	// its name.
	writes string
	// contents are the writes of a name that is never set again, as a constant of Ruby.
	contents string
	sessions *regexp.Regexp // a store of sessions in memory
	shared   *regexp.Regexp // a connection that all threads use
}

var languages = map[string]language{
	".py": {
		holder:   regexp.MustCompile(`(?m)^([A-Za-z_]\w*)(?:[ \t]*:[^=\n]*)?[ \t]*=[ \t]*(?:\{|\[|[0-9]+[ \t]*$|None[ \t]*$|dict\(|list\(|set\(|(?:collections\.)?(?:defaultdict|OrderedDict|Counter|deque)\(|(?:cachetools\.)?(?:LRU|TTL|LFU)Cache\()`),
		writes:   `(?m)^[ \t]+(?:.*[^\w.])?(?:%[1]s(?:\[[^\]\n]*\][ \t]*[-+*/|]?=[^=]|\.(?:append|add|update|setdefault|pop|popitem|clear|remove|insert|extend)\()|global[ \t]+(?:\w+,[ \t]*)*%[1]s\b)`,
		sessions: regexp.MustCompile(`(?m)^[^#\n]*(?:CACHE_TYPE["']?\]?[ \t]*[:=][ \t]*["'](?:[Ss]imple(?:Cache)?)["']|\bSimpleCache\()`),
		shared:   regexp.MustCompile(`(?m)^(\w+)[ \t]*=[ \t]*(?:pymysql|MySQLdb|mysql\.connector|psycopg2?|sqlite3)\.connect\(`),
	},
	".rb": {
		holder:   regexp.MustCompile(`(?m)^[ \t]*(\$\w+|@@\w+|[A-Z][A-Z0-9_]+)[ \t]*(?:\|\|)?=[ \t]*(?:\{|\[|[0-9]+[ \t]*$|nil\b|Hash\.new|Array\.new|Set\.new|Concurrent::)`),
		writes:   `(?m)^[ \t]+(?:.*[^\w.])?%[1]s(?:\[[^\]\n]*\][ \t]*(?:\|\||[-+])?=[^=~]|[ \t]*<<|[ \t]*[-+]=|[ \t]*=[^=~]|\.(?:push|store|delete|clear|merge!|fetch_or_store|compute_if_absent)\b)`,
		contents: `(?m)^[ \t]+(?:.*[^\w.])?%[1]s(?:\[[^\]\n]*\][ \t]*(?:\|\||[-+])?=[^=~]|[ \t]*<<|\.(?:push|store|delete|clear|merge!|fetch_or_store|compute_if_absent)\b)`,
		sessions: regexp.MustCompile(`(?m)^[^#\n]*(?:Rack::Session::Pool|:memory_store|session_store[ \t(]+:cache_store)`),
		shared:   regexp.MustCompile(`(?m)^[ \t]*(\$\w+|@@\w+|[A-Z][A-Z0-9_]+)[ \t]*(?:\|\|)?=[ \t]*(?:Mysql2::Client|SQLite3::Database|PG::Connection)\.new`),
	},
	".js": {
		holder:   regexp.MustCompile(`(?m)^(?:const|let|var)[ \t]+(\w+)[ \t]*=[ \t]*(?:\{|\[|[0-9]+[ \t]*;?[ \t]*$|new[ \t]+(?:Map|Set|WeakMap|LRU\w*|NodeCache)\b)`),
		writes:   `(?m)^[ \t]+(?:.*[^\w.])?%[1]s(?:\[[^\]\n]*\][ \t]*[-+]?=[^=]|\.(?:set|add|push|delete|clear|splice|shift|pop)\(|\+\+|[ \t]*[-+]?=[^=>])`,
		sessions: regexp.MustCompile(`(?m)^[^/\n]*\bsession\(\{[^}]*\}?`),
	},
}

// bounds of the source that is read.
const (
	mostFiles = 400
	mostBytes = 1 << 20
)

// States lists where the source in a folder keeps state in the memory of its process.
// It reads source without running it and may name state that is never written by a
// request. Tests, packages of others and hidden folders are left out.
func States(h host.Host, folder string) ([]State, error) {
	var out []State
	files := 0
	err := h.Walk(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) && path != folder {
				return fs.SkipDir
			}
			return nil
		}
		ext := strings.Replace(strings.Replace(filepath.Ext(path), "mjs", "js", 1), "cjs", "js", 1)
		if _, known := languages[ext]; !known || !d.Type().IsRegular() || strings.HasSuffix(path, ".conf.py") {
			return nil
		}
		if files++; files > mostFiles {
			return fmt.Errorf("it has more than %d files", mostFiles)
		}
		text, err := h.Read(path)
		if err != nil || len(text) > mostBytes {
			return err
		}
		name, err := filepath.Rel(folder, path)
		out = append(out, statesIn(ext, name, string(text))...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source in %s: %w", folder, err)
	}
	return out, nil
}

// skipped are folders that are no source of the app.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "vendor", "test", "tests", "spec", "venv", "__pycache__", "static", "public"}, name)
}

// statesIn lists the state of one file.
func statesIn(ext, name, text string) []State {
	l := languages[ext]
	var out []State
	add := func(kind StateKind, at int, what string) {
		out = append(out, State{kind, name, 1 + strings.Count(text[:at], "\n"), what})
	}
	seen := map[string]bool{}
	for _, m := range l.holder.FindAllStringSubmatchIndex(text, -1) {
		holder := text[m[2]:m[3]]
		writes := l.writes
		if l.contents != "" && strings.ToUpper(holder[:1]) == holder[:1] && strings.ToLower(holder[:1]) != holder[:1] {
			writes = l.contents
		}
		written, err := regexp.Compile(fmt.Sprintf(writes, regexp.QuoteMeta(holder)))
		if err != nil || seen[holder] || !written.MatchString(text) {
			continue
		}
		seen[holder] = true
		kind := Values
		if strings.Contains(strings.ToLower(holder), "session") {
			kind = Sessions
		} else if memo(ext, holder, text, written) {
			continue
		}
		add(kind, m[2], holder)
	}
	for _, m := range l.sessions.FindAllStringIndex(text, -1) {
		if what := strings.TrimSpace(text[m[0]:m[1]]); ext != ".js" || !strings.Contains(what, "store:") {
			add(sessionKind(what), m[0], first(what))
		}
	}
	if l.shared != nil {
		for _, m := range l.shared.FindAllStringSubmatchIndex(text, -1) {
			add(Connection, m[2], text[m[2]:m[3]])
		}
	}
	return out
}

// memo reports whether a container is a memo: every write fills an entry that is missing,
// and none is changed or removed. One process shows what it has read first until it ends,
// however old it is. Several processes show nothing older.
func memo(ext, holder, text string, written *regexp.Regexp) bool {
	lines := strings.Split(text, "\n")
	set := regexp.MustCompile(`^[ \t]+` + regexp.QuoteMeta(holder) + `\[([^\[\]]+)\][ \t]*=[^=]`)
	filled := regexp.MustCompile(`^[ \t]+(?:.*[^\w.])?` + regexp.QuoteMeta(holder) + `\[[^\[\]]+\][ \t]*\|\|=[^=]`)
	for i, line := range lines {
		if !written.MatchString(line) {
			continue
		}
		if ext == ".rb" && filled.MatchString(line) {
			continue
		}
		m := set.FindStringSubmatch(line)
		if ext != ".py" || m == nil || i == 0 || strings.TrimSpace(lines[i-1]) != "if "+strings.TrimSpace(m[1])+" not in "+holder+":" {
			return false
		}
	}
	return true
}

// sessionKind distinguishes a cache in memory from a store of sessions.
func sessionKind(what string) StateKind {
	if strings.Contains(strings.ToLower(what), "session") {
		return Sessions
	}
	return Values
}

// first is the first line of a text, cut.
func first(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return plain.Cut(text, 60)
}
