package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// cacheControl are the words that may be added to what expires says.
var cacheControl = regexp.MustCompile(`^(public|private|immutable|no-transform|must-revalidate|stale-while-revalidate=[0-9]{1,6})(, ?(public|private|immutable|no-transform|must-revalidate|stale-while-revalidate=[0-9]{1,6}))*$`)

// editExpires tells clients how long to keep the answers of a path, and turns
// validators on for when the time is over. Where the app is asked, what it says
// of an answer itself stands: a no-store must not become an hour.
func editExpires(t *task) error {
	expires, words := t.args["expires"], t.args["cache-control"]
	if !expiresForm.MatchString(expires) {
		return fmt.Errorf("expires %q: want a time, as 1d or max", expires)
	}
	if words != "" && !cacheControl.MatchString(words) {
		return fmt.Errorf("cache-control %q: want words as public, immutable", words)
	}
	if !slices.Contains(keepsFresh, expires) {
		t.weaken(iikanji.Freshness)
	}
	s, err := t.spot(t.args["path"])
	if err != nil {
		return err
	}
	t.says = fmt.Sprintf("let clients keep the answers of %s for %s", t.args["path"], expires)
	there := t.value(s.chain, "expires") == expires && (words == "" || t.adding(s.chain, words))
	if !there && t.passes(s.last()) && !slices.Contains(keepsFresh, expires) {
		t.says += ", where the app says nothing of it"
		expires = t.unlessSaid(s, "expires", expires, "off")
		if words != "" {
			words = t.unlessSaid(s, "cache", words, "")
		}
	}
	if t.value(s.chain, "expires") != expires || words != "" && !t.adding(s.chain, words) {
		if _, err := t.split(&s); err != nil {
			return err
		}
		if err := t.noRedirect(s); err != nil {
			return err
		}
		t.holds(s.chain, "expires", expires)
		if words != "" && !t.adding(s.chain, words) {
			same := func(d *directive) bool { return strings.EqualFold(d.arg(0), "Cache-Control") }
			t.adds(s.chain, "add_header", same, "Cache-Control", words)
		}
	}
	if t.value(s.chain, "etag") == "off" {
		t.holds(s.chain, "etag", "on")
	}
	return nil
}

// unlessSaid is a variable that is a value where the app's answer has no
// Cache-Control, and another one where it has.
func (t *task) unlessSaid(s spot, what, value, otherwise string) string {
	name := "$iikanji_" + what + "_" + notWord.ReplaceAllString(value, "_")
	for _, m := range t.get(s.chain[0], "map") {
		if m.arg(1) == name {
			return name
		}
	}
	m := newBlock("map", "$upstream_http_cache_control", name)
	m.put(newDirective("default", otherwise))
	m.put(newDirective("", value))
	insertBeforeServers(s.chain[0], m)
	return name
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// adding says whether the words of Cache-Control are added already.
func (t *task) adding(around []*directive, words string) bool {
	found, _ := t.effective(around, "add_header")
	return slices.ContainsFunc(found, func(p place) bool {
		return strings.EqualFold(p.arg(0), "Cache-Control") && p.arg(1) == words
	})
}

// noRedirect keeps nginx from sending "/a" to "/a/", as it does where a folder
// is passed on: the app answered "/a" before, and a location of its own for it
// lets it go on.
func (t *task) noRedirect(s spot) error {
	l := s.last()
	folder := matches(l)
	if l.line != 0 || !folder.prefix() || !t.passes(l) || folder.what == "/" {
		return nil // there before, or asks nobody
	}
	path := strings.TrimSuffix(folder.what, "/")
	before := spot{want: pattern{"=", path}}
	chain, err := t.locate(s.server(), path, true)
	if err != nil {
		return err
	}
	before.chain = append([]*directive{s.chain[0]}, chain...)
	if before.is() || !t.passes(before.last()) {
		return nil
	}
	_, err = t.split(&before)
	return err
}
