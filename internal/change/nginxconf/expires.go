package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// cacheControl are the words that may be added to the Cache-Control of expires.
var cacheControl = regexp.MustCompile(`^(public|private|immutable|no-transform|must-revalidate|stale-while-revalidate=[0-9]{1,6})(, ?(public|private|immutable|no-transform|must-revalidate|stale-while-revalidate=[0-9]{1,6}))*$`)

// expires sets how long clients keep the answers of a path, and turns on the
// validators for when the time is over. If the app answers, its own
// Cache-Control wins: a no-store must not become an hour.
type expires struct {
	Path    string `arg:"path,required" help:"a URL, a folder with its slash, or a route: /api/isu/:id/icon"`
	Expires string `arg:"expires,required" help:"1h, 365d, max, off, epoch, -1"`
	Words   string `arg:"cache-control" help:"further words: public or public, immutable"`
	Server  string `arg:"server" help:"server_name or listen address of a server block"`
}

// Validate is called by change.Decode.
func (a *expires) Validate() error {
	if a.Words != "" && !cacheControl.MatchString(a.Words) {
		return fmt.Errorf("cache-control %q: want words as public, immutable", a.Words)
	}
	return checkExpires(a.Expires)
}

// fresh reports whether no client keeps an answer.
func (a *expires) fresh() bool { return slices.Contains(promise.RevalidatedValues, a.Expires) }

func (a *expires) Refine(act *change.Act) {
	if a.fresh() {
		act.Worth, act.Simplifies = change.WorthLine, true
	}
}

func (a *expires) edit(t *task) error {
	s, err := t.Spot(a.Path, a.Server)
	if err != nil {
		return err
	}
	t.Says = fmt.Sprintf("let clients keep the answers of %s for %s", a.Path, a.Expires)
	kept := promise.Kept{Expires: a.Expires, Words: a.Words, FromApp: t.computes(s.Last()), SameForAll: t.Proves(iikanji.SameForAll)}
	value, words := a.Expires, a.Words
	there := t.Value(s.Chain, "expires") == value && (words == "" || t.adding(s.Chain, words))
	if !there && kept.FromApp {
		kept.AppDecides = true
		t.Says += ", unless the app sends a Cache-Control"
		if value != "off" { // off adds no header
			value = t.unlessApp(s, "expires", value, "off")
		}
		if words != "" {
			words = t.unlessApp(s, "cache", words, "")
		}
	}
	t.Weaken(kept.Promises()...)
	if t.Value(s.Chain, "expires") != value || words != "" && !t.adding(s.Chain, words) {
		if _, err := t.Split(&s); err != nil {
			return err
		}
		if err := t.NoRedirect(s); err != nil {
			return err
		}
		t.Ensure(s.Chain, "expires", value)
		if words != "" && !t.adding(s.Chain, words) {
			t.EnsureOneOf(s.Chain, "add_header", nginxedit.SameHeader("Cache-Control"), "Cache-Control", words)
		}
	}
	if t.Value(s.Chain, "etag") == "off" {
		t.Ensure(s.Chain, "etag", "on")
	}
	return nil
}

// computes reports whether an application answers the requests of a block, by any
// protocol.
func (t *task) computes(d *nginx.Directive) bool {
	return slices.ContainsFunc(d.Block.Items, func(in *nginx.Directive) bool {
		files, _ := t.Included(in)
		return strings.HasSuffix(in.Name(), "_pass") || slices.ContainsFunc(files, func(f *nginx.File) bool {
			return slices.ContainsFunc(f.Root.Items, func(d *nginx.Directive) bool { return strings.HasSuffix(d.Name(), "_pass") })
		})
	})
}

// maxVariable is the longest name of a variable that fits nginx's default
// variables_hash_bucket_size on every machine.
const maxVariable = 40

// unlessApp is a variable that has a value if the app's answer has no
// Cache-Control, and another value if it has one.
func (t *task) unlessApp(s nginxedit.Spot, what, value, otherwise string) string {
	name := "$iikanji_" + what + "_" + notWord.ReplaceAllString(value, "_")
	if len(name) > maxVariable {
		name = fmt.Sprintf("$iikanji_%s_%.16s", what, change.FingerprintOf([]byte(value)))
	}
	for _, m := range t.Get(s.Chain[0], "map") {
		if m.Arg(1) == name {
			return name
		}
	}
	m := nginx.NewBlock("map", "$upstream_http_cache_control", name)
	m.Put(nginx.New("default", otherwise), nginx.New("", value))
	nginxedit.InsertBeforeServers(s.Chain[0], m)
	return name
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// adding reports whether the words of Cache-Control are added already.
func (t *task) adding(around []*nginx.Directive, words string) bool {
	found, _ := t.Effective(around, "add_header")
	return slices.ContainsFunc(found, func(p nginx.Place) bool {
		return strings.EqualFold(p.Arg(0), "Cache-Control") && p.Arg(1) == words
	})
}
