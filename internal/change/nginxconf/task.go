package nginxconf

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A task is one plan under way: the configuration's trees, which an editor
// changes, and what it has to say about that.
type task struct {
	ctx context.Context
	*conf
	site *change.Site
	name string // of the service
	svc  change.Service
	args map[string]string

	says    string // what was done, in a sentence
	weakens []iikanji.Promise
	files   []change.Edit // files that are written beside the configuration
	scratch []string      // folders that nginx makes when it reads the configuration
}

// An editor does one act.
type editor func(*task) error

// arg is an argument, or its default.
func (t *task) arg(name, or string) string {
	if v := t.args[name]; v != "" {
		return v
	}
	return or
}

// number is an argument that must be a whole number in a range.
func (t *task) number(name string, from, to int) (int, error) {
	v := t.args[name]
	n, err := strconv.Atoi(v)
	if err != nil || n < from || n > to {
		return 0, fmt.Errorf("%s %q: want %d to %d", name, v, from, to)
	}
	return n, nil
}

// word is an argument that must be one of a few.
func (t *task) word(name string, words ...string) (string, error) {
	v := t.arg(name, words[0])
	if !slices.Contains(words, v) {
		return "", fmt.Errorf("%s %q: want %s", name, v, strings.Join(words, " or "))
	}
	return v, nil
}

// alone refuses an edit that was meant for one path or server, and would reach
// others: of a file that nginx reads in several places.
func (t *task) alone() error {
	if t.args["path"] == "" && t.args["server"] == "" {
		return nil
	}
	reads := t.reads()
	for _, f := range t.changed() {
		if reads[f] > 1 {
			return fmt.Errorf("what would be changed stands in %s, which is included in %d places: all of them would change", f.path, reads[f])
		}
	}
	return nil
}

func (t *task) weaken(p iikanji.Promise) {
	if !slices.Contains(t.weakens, p) {
		t.weakens = append(t.weakens, p)
	}
}

// spot finds the server and the spot of args["path"].
func (t *task) spot(path string) (spot, error) {
	http, err := t.http()
	if err != nil {
		return spot{}, err
	}
	server, err := t.server(t.args["server"])
	if err != nil {
		return spot{}, err
	}
	return t.spotOf(http, server, path)
}
