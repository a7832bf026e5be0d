package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestKeptInNginx: pages that are the same for all are kept in nginx where there is no
// Varnish and the only app is in Go.
func TestKeptInNginx(t *testing.T) {
	for name, c := range map[string]struct {
		in   *scene
		want string
	}{
		"no Varnish":   {sharedScene(10, false), "nginx map[act:nginx cookies:ignore path:/article/:id;/ valid:10s] [same-for-all]"},
		"a Varnish":    {sharedScene(10, true), ""},
		"many writes":  {sharedScene(900, false), ""},
		"another app":  {sharedScene(10, false).service(iikanji.Service{Name: "worker", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}), ""},
		"kept already": {sharedScene(10, false).conf("proxy_cache_path", "/c", "keys_zone=iikanji_pages:8m"), ""},
	} {
		f := findingOf(t, c.in, "WEB116")
		got := ""
		for _, r := range f.Remedies {
			got += fmt.Sprint(r.Target, " ", r.Args, " ", r.Proof)
		}
		if got != c.want || (f.Gain.Hi > 0) != (c.want != "") {
			t.Errorf("%s: %q %v", name, got, f.Gain)
		}
	}
}

func (s *scene) service(svc iikanji.Service) *scene {
	s.Target.Services = append(s.Target.Services, svc)
	return s
}

// findingOf returns the finding of a code, or an empty one.
func findingOf(t *testing.T, s *scene, code iikanji.Code) iikanji.Finding {
	t.Helper()
	fs, err := findAll(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == code }); i >= 0 {
		return fs[i]
	}
	return iikanji.Finding{}
}

// blogPages are the notes of an app in which a comment changes its article alone, and a
// post the index.
func blogPages(edit func(k *fact.KeptPages)) fact.KeptPages {
	k := fact.KeptPages{Kept: []string{"/article/:id", "/"}, Pairs: []fact.PageChange{
		{Write: "POST /comment/:1", Page: "/article/:1", Changed: 21}, {Write: "POST /comment/:1", Page: "/article/:id", Same: 900}, {Write: "POST /comment/:1", Page: "/", Same: 30},
		{Write: "POST /post", Page: "/", Changed: 2, Same: 1}, {Write: "POST /post", Page: "/article/:id", Same: 600},
		{Write: "POST /initialize", Page: "/", Same: 2}}}
	edit(&k)
	return k
}

// TestDroppedInVain: the table has the writes whose changed pages are certain.
func TestDroppedInVain(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(k *fact.KeptPages)
		want string // of the argument drops
	}{
		"certain":             {func(*fact.KeptPages) {}, "POST /comment/:1=/article/:1;POST /post=/"},
		"a list with it":      {func(k *fact.KeptPages) { k.Pairs[2].Changed = 1 }, "POST /comment/:1=/article/:1,/;POST /post=/"},
		"seldom seen":         {func(k *fact.KeptPages) { k.Pairs[2].Same = leastSeen - 1 }, "POST /comment/:1=/article/:1,/;POST /post=/"},
		"never with its id":   {func(k *fact.KeptPages) { k.Pairs = slices.Delete(k.Pairs, 0, 1) }, "POST /comment/:1=/article/:1;POST /post=/"},
		"others change":       {func(k *fact.KeptPages) { k.Pairs[1].Changed = 1 }, "POST /post=/"},
		"others are not seen": {func(k *fact.KeptPages) { k.Pairs[1].Same, k.Pairs[4].Same = 19, 19 }, ""},
		"a page by the clock": {func(k *fact.KeptPages) { k.Unstable = map[string]int{"/": 1} }, ""},
		"a fault":             {func(k *fact.KeptPages) { k.Stale = []fact.StalePage{{Page: "/", Write: "POST /x"}} }, ""},
		"a table already":     {func(k *fact.KeptPages) { k.Rows = 1 }, ""},
	} {
		s := sharedScene(10, false).with("nginx", string(fact.TopicKept), "/dev/shm/iikanji-1", blogPages(c.edit))
		f := findingOf(t, s, "WEB117")
		got := ""
		for _, r := range f.Remedies {
			got += r.Args["drops"]
			if r.Kind != "httpcache" || r.Args["path"] != "/article/:id;/" || fmt.Sprint(r.Proof) != "[same-for-all]" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if name == "certain" && (len(f.Evidence) != 2 || !strings.HasPrefix(f.Evidence[0].Text, "POST /comment/:1 changes /article/:1; /article/:1 changed 21 of 21 times, /article/:id changed 0 of 900 times")) {
			t.Errorf("the table is not shown: %+v", f.Evidence)
		}
	}
}

// leastSeen is how often a page must be seen to stay the same.
const leastSeen = 20
