package observe

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// TestBuffers finds the log that is written through a buffer, at any depth of blocks.
func TestBuffers(t *testing.T) {
	in := func(args ...string) []iikanji.Directive {
		log := iikanji.Directive{Name: "access_log", Args: args}
		return []iikanji.Directive{{Name: "http", Block: []iikanji.Directive{{Name: "server", Block: []iikanji.Directive{log}}}}}
	}
	for _, c := range []struct {
		tree []iikanji.Directive
		want bool
	}{
		{in("/log", "combined", "buffer=64k"), true},
		{in("/log", "combined", "gzip=1"), true},
		{in("/log"), false},
		{in("/other", "combined", "buffer=64k"), false},
		{in("off"), false},
		{nil, false},
	} {
		if got := newLogFlush(c.tree, host.Local{}, "/log", none) != nil; got != c.want {
			t.Errorf("%v: %v, want %v", c.tree, got, c.want)
		}
	}
	if newLogFlush(in("", "", "buffer=1k"), host.Local{}, "", none) != nil {
		t.Error("a target without an access log is flushed")
	}
	if err := newLogFlush(in("/log", "x", "buffer=1k"), host.Local{}, "/log", none).flush(t.Context()); err != nil {
		t.Errorf("an unknown nginx: %v", err)
	}
}

func TestHidesWarnings(t *testing.T) {
	for text, want := range map[string]bool{"": true, "/log": true, "/log error": true, "/log crit": true, "/log warn": false, "/log debug": false} {
		tree := []iikanji.Directive{{Name: "events"}}
		if text != "" {
			tree = append(tree, iikanji.Directive{Name: "error_log", Args: strings.Fields(text)})
		}
		if got := hidesWarnings(tree); got != want {
			t.Errorf("error_log %s: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"http { error_log /log warn; server { location / { proxy_pass http://a; } } }":                                                            false,
		"error_log /log warn; http { server { error_log /log; location / { proxy_pass http://a; } } }":                                            true,
		"error_log /log warn; http { error_log /log error; server { location / { proxy_pass http://a; error_log /log info; } } }":                 false,
		"error_log /log warn; http { server { location / { root /srv; error_log /log; } location /a { proxy_pass http://a; } } }":                 false,
		"error_log /log; error_log /more debug; http { server { location / { fastcgi_pass a; } } }":                                               false,
		"http { server { error_log /log warn; location / { proxy_pass http://a; } } server { location / { if ($x) { proxy_pass http://b; } } } }": true,
	} {
		tree, err := facts.ParseConf("nginx.conf", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := hidesWarnings(tree); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if hidesWarnings(nil) {
		t.Error("an unknown configuration hides warnings")
	}
}

// TestTellUnread checks that there are warnings for queries that cannot be parsed, and
// for nothing else.
func TestTellUnread(t *testing.T) {
	ob := &Observation{Run: &iikanji.Run{}}
	tellUnread(ob, []cause.Unread{{Query: cause.Query{SQL: "administrator command: Prepare", Seconds: 9}}, {Query: cause.Query{SQL: "SET x = 1"}}})
	if len(ob.Run.Warnings) != 0 {
		t.Errorf("%q", ob.Run.Warnings)
	}
	tellUnread(ob, []cause.Unread{{Query: cause.Query{SQL: "SELECT odd FROM", Seconds: 1.5}}, {Query: cause.Query{SQL: " update odd", Seconds: 1}}})
	if len(ob.Run.Warnings) != 1 || !strings.Contains(ob.Run.Warnings[0], "2 kinds of statements, 2.5 s") || !strings.Contains(ob.Run.Warnings[0], "SELECT odd") {
		t.Errorf("%q", ob.Run.Warnings)
	}
}

// none is the process of an nginx that does not run.
func none() int { return 0 }
