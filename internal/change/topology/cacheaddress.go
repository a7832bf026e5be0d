package topology

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/settings"
)

// A cacheAddress finds by which variables an app has the address of a Redis or a memcached:
// whole, in a URL, or its host alone.
type cacheAddress struct {
	files  []settings.File
	env    map[string]string
	engine iikanji.Engine
	names  []string // of its host, as the app may write them
	port   string
	to     string // the host for the variables
}

// A cacheFound are the variables with their values for the other host.
type cacheFound struct {
	sets  map[string]string
	place string // in the source
}

func (f *cacheFound) variables() []string { return slices.Sorted(maps.Keys(f.sets)) }

// find is nil without an error for an app in which nothing has the address. An address that no
// variable decides, or that is in a URL with a password, is an error with its place.
func (a *cacheAddress) find() (*cacheFound, error) {
	f := &cacheFound{sets: map[string]string{}}
	var alone []string
	add := func(name, value, place string) error {
		v, form := a.moved(value, a.named(name))
		switch form {
		case "":
			return nil
		case secretForm:
			return fmt.Errorf("%s has the address of the %s with a password, which no file of ours gets: give it a variable with the host alone", name, a.engine)
		case aloneForm:
			if alone = append(alone, name); len(alone) > 1 && alone[0] != name {
				return fmt.Errorf("%s and %s both have a host alone, so that nothing tells which is that of the %s", alone[0], name, a.engine)
			}
		}
		f.sets[name] = v
		if f.place == "" {
			f.place = place
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.env)) {
		if place := a.mentioned(name); place != "" {
			if err := add(name, a.env[name], place); err != nil {
				return nil, err
			}
		}
	}
	fixed := ""
	for _, file := range a.files {
		for _, l := range a.literals(file) {
			_, set := a.env[l.variable]
			switch {
			case l.variable == "" && l.form != aloneForm:
				fixed = l.place
			case l.variable != "" && !set && f.sets[l.variable] == "":
				if err := add(l.variable, l.text, l.place); err != nil {
					return nil, err
				}
			}
		}
	}
	switch {
	case fixed != "":
		return nil, fmt.Errorf("%s has the address of the %s in a way that no variable decides: read it from a variable such as %s_ADDR", fixed, a.engine, strings.ToUpper(string(a.engine)))
	case len(f.sets) == 0:
		return nil, nil
	}
	return f, nil
}

// The forms of an address.
const (
	wholeForm  = "host:port"
	urlForm    = "URL"
	aloneForm  = "host"
	secretForm = "URL with a password"
)

// moved is a value with the other host in place of the present one; the form is "" for a value
// that is no address of the server.
func (a *cacheAddress) moved(value string, named bool) (moved, form string) {
	if h, p, err := net.SplitHostPort(value); err == nil && p == a.port && slices.Contains(a.names, h) {
		return net.JoinHostPort(a.to, a.port), wholeForm
	}
	if slices.Contains(a.names, value) && named {
		return a.to, aloneForm
	}
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok || scheme == "" {
		return "", ""
	}
	rest, path := cutPath(rest)
	login, at, has := strings.Cut(rest, "@")
	if !has {
		at = rest
	}
	if h, p, err := net.SplitHostPort(at); err != nil || p != a.port || !slices.Contains(a.names, h) {
		return "", ""
	}
	if has && login != "" && login != ":" || secretQuery.MatchString(path) {
		return "", secretForm
	}
	return scheme + "://" + net.JoinHostPort(a.to, a.port) + path, urlForm
}

// secretQuery matches the query of a URL that some clients read a password from.
var secretQuery = regexp.MustCompile(`(?i)[?&](?:\w*pass\w*|pwd|auth|token|secret)=.`)

// cutPath divides what is behind the scheme of a URL before its path or query.
func cutPath(rest string) (authority, path string) {
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[:i], rest[i:]
	}
	return rest, ""
}

var cacheNames = map[iikanji.Engine]*regexp.Regexp{
	iikanji.EngineRedis:     regexp.MustCompile(`(?i)redis|valkey|keydb|kvs`),
	iikanji.EngineMemcached: regexp.MustCompile(`(?i)memcache`),
}

// named reports whether a variable is named for the server: a host alone says nothing.
func (a *cacheAddress) named(variable string) bool {
	re := cacheNames[a.engine]
	return re != nil && re.MatchString(variable)
}

// mentioned is the first place of the source that has a variable, "" for none.
func (a *cacheAddress) mentioned(name string) string {
	word := asWord(name)
	for _, f := range a.files {
		if i := word.FindStringIndex(f.Text); i != nil {
			return placeIn(f, i[0])
		}
	}
	return ""
}

func placeIn(f settings.File, at int) string {
	return fmt.Sprintf("%s:%d", f.Path, 1+strings.Count(f.Text[:at], "\n"))
}

// A literal is a text of the source that is the server's address, with the variable in whose
// place it stands.
type literal struct{ text, variable, form, place string }

var (
	quoted     = regexp.MustCompile("[\"'`]([^\"'`\\s]{3,120})[\"'`]")
	envMention = regexp.MustCompile("[\"'`]([A-Z][A-Z0-9_]{2,40})[\"'`]|process\\.env\\.([A-Z][A-Z0-9_]{2,40})")
)

// farBefore is how far before a text the name of its variable is looked for, in bytes: two lines
// of code, as in `v := os.Getenv("X"); if v == "" { v = "…" }`.
const farBefore = 120

func (a *cacheAddress) literals(f settings.File) (out []literal) {
	for _, m := range quoted.FindAllStringSubmatchIndex(f.Text, -1) {
		text := f.Text[m[2]:m[3]]
		if _, form := a.moved(text, true); form == "" {
			continue
		}
		l := literal{text: text, place: placeIn(f, m[0])}
		before := f.Text[max(0, m[0]-farBefore):m[0]]
		if all := envMention.FindAllStringSubmatch(before, -1); len(all) > 0 {
			last := all[len(all)-1]
			l.variable = last[1] + last[2]
		}
		if _, l.form = a.moved(text, l.variable == "" || a.named(l.variable)); l.form != "" {
			out = append(out, l)
		}
	}
	return out
}
