package ladder

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

// keys are the keys of a heading, with true for those that every file needs.
var keys = map[string]bool{"row": true, "told": true, "source": true, "expect": false, "target": false, "schema": false, "weakens": false, "hosts": false}

// ofEnding are the keys that only files of some endings have.
var ofEnding = map[string][]string{
	"target":  {".sql", ".conf", ".patch"},
	"schema":  {".sql"},
	"weakens": {".patch"},
}

// expectHurts is the value of the key expect.
const expectHurts = "hurts"

// A heading is the comment at the beginning of a file.
type heading struct {
	values map[string]string
	lines  map[string]int // of the keys
	end    int            // number of lines
}

// comment returns the text of a comment line.
func comment(line, ending string) (text string, ok bool) {
	mark := "#"
	if ending == ".sql" {
		mark = "--"
	}
	text, ok = strings.CutPrefix(line, mark)
	return strings.TrimSpace(text), ok
}

// readHeading reads the comment lines at the beginning of a file.
func readHeading(lines []string, ending string) (heading, *Error) {
	h := heading{map[string]string{}, map[string]int{}, 0}
	last := ""
	for i, line := range lines {
		text, ok := comment(line, ending)
		if !ok {
			break
		}
		h.end = i + 1
		key, value, found := strings.Cut(text, ":")
		if _, known := keys[key]; found && known {
			if _, twice := h.values[key]; twice {
				return h, mistake(i+1, "the key %q is there twice", key)
			}
			h.values[key], h.lines[key], last = strings.TrimSpace(value), i+1, key
			continue
		}
		if err := strange(key, found, last, i+1); err != nil {
			return h, err
		}
		h.values[last] = strings.TrimSpace(h.values[last] + " " + text)
	}
	return h, h.check(ending)
}

// strange is the mistake in a line of a heading that begins with no key; nil if it
// continues the line before.
func strange(word string, colon bool, last string, line int) *Error {
	all := slices.Sorted(maps.Keys(keys))
	if near := change.Nearest(word, all); colon && near != "" && !strings.Contains(word, " ") {
		return mistake(line, "unknown key %.40q", word).hint("did you mean " + near + "?")
	}
	if last == "" {
		return mistake(line, "the heading begins without a key").hint("the keys are " + strings.Join(all, ", ") + ", as in row: the index on the right column")
	}
	return nil
}

// check refuses a heading that lacks a key of its ending, or has one of another.
func (h heading) check(ending string) *Error {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		endings, some := ofEnding[key]
		value, has := h.values[key]
		required := keys[key] || some && key != "weakens" && slices.Contains(endings, ending)
		switch {
		case required && value == "":
			return mistake(max(1, h.lines[key]), "the heading has no %s", key).hint("a comment line at the beginning: " + key + ": …")
		case has && some && !slices.Contains(endings, ending):
			return mistake(h.lines[key], "a %s file has no %s", ending, key)
		}
	}
	if v, has := h.values["hosts"]; has && hostsIn(v) == 0 {
		return mistake(h.lines["hosts"], "hosts: %.40q", v).hint("how many machines of its own the row needs, 1 to 8")
	}
	if v, has := h.values["expect"]; has && v != expectHurts {
		return mistake(h.lines["expect"], "expect: %.40q", v).hint("the only value is " + expectHurts)
	}
	return nil
}

// mostHosts bounds the machines of a row.
const mostHosts = 8

// hostsIn is how many machines the value of the key hosts names; 0 for none.
func hostsIn(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostHosts {
		return 0
	}
	return n
}
