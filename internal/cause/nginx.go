package cause

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A level is one context of nginx's configuration with the contexts around it:
// http, server, location.
type level struct {
	chain []iikanji.Directive // the outermost first
}

func (l level) in(d iikanji.Directive) level {
	return level{append(append([]iikanji.Directive(nil), l.chain...), d)}
}

func (l level) self() iikanji.Directive { return l.chain[len(l.chain)-1] }

// nearest returns the directives of a name at the innermost level that has any,
// as nginx inherits them.
func (l level) nearest(name string) []iikanji.Directive {
	for i := len(l.chain) - 1; i >= 0; i-- {
		if found := l.chain[i].All(name); len(found) > 0 {
			return found
		}
	}
	return nil
}

// nginx is the http block of the configuration among the facts.
func (v *view) nginx() (iikanji.Directive, bool) {
	for _, f := range v.in.Facts {
		if f.Topic != iikanji.TopicNginx {
			continue
		}
		var tree []iikanji.Directive
		if json.Unmarshal([]byte(f.Value), &tree) != nil {
			return iikanji.Directive{}, false
		}
		for _, d := range tree {
			if d.Name == "http" {
				return d, true
			}
		}
	}
	return iikanji.Directive{}, false
}

// servers are the server blocks, each within http.
func servers(http iikanji.Directive) []level {
	var out []level
	for _, s := range http.All("server") {
		out = append(out, level{[]iikanji.Directive{http}}.in(s))
	}
	return out
}

// locations are the locations of a server, nested ones too.
func locations(l level) []level {
	var out []level
	for _, d := range l.self().All("location") {
		at := l.in(d)
		out = append(append(out, at), locations(at)...)
	}
	return out
}

// match finds the location that nginx selects for a path: an exact one, else
// the longest prefix if it has ^~, else the first matching regular expression,
// else that prefix. ok is false if there is none, or if a regular expression
// cannot be compiled.
func match(server level, path string) (found level, ok bool) {
	best, sticky := -1, false
	for _, l := range locations(server) {
		d := l.self()
		kind, pattern := "", d.Arg(0)
		if len(d.Args) > 1 {
			kind, pattern = d.Arg(0), d.Arg(1)
		}
		switch {
		case kind == "=" && pattern == path:
			return l, true
		case (kind == "" || kind == "^~") && !strings.HasPrefix(pattern, "@") && strings.HasPrefix(path, pattern) && len(pattern) > best:
			best, sticky, found = len(pattern), kind == "^~", l
		}
	}
	if !sticky {
		for _, l := range locations(server) {
			d := l.self()
			if d.Arg(0) != "~" && d.Arg(0) != "~*" {
				continue
			}
			text := d.Arg(1)
			if d.Arg(0) == "~*" {
				text = "(?i)" + text
			}
			re, err := regexp.Compile(text)
			if err != nil {
				return level{}, false
			}
			if re.MatchString(path) {
				return l, true
			}
		}
	}
	return found, best >= 0
}

// place is the file and line of a directive.
func place(d iikanji.Directive) string { return fmt.Sprintf("%s:%d", d.File, d.Line) }

// nginxFrom reports whether nginx is known to have a version or a later one.
// Forks have other version numbers.
func (v *view) nginxFrom(least [3]int) bool {
	for _, f := range v.in.Facts {
		if f.Topic != iikanji.TopicNginxVersion {
			continue
		}
		var is [3]int
		name, number, _ := strings.Cut(f.Value, "/")
		if n, _ := fmt.Sscanf(number, "%d.%d.%d", &is[0], &is[1], &is[2]); n < 3 || iikanji.Engine(name) != iikanji.EngineNginx && name != "openresty" {
			return false
		}
		return slices.Compare(is[:], least[:]) >= 0
	}
	return false
}
