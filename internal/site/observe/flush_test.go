package observe

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func config(t *testing.T, text string) *nginx.Config {
	t.Helper()
	c, err := nginx.Dump{{Path: "nginx.conf", Text: text}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestBuffers finds the log that is written through a buffer, at any depth of blocks.
func TestBuffers(t *testing.T) {
	in := func(args ...string) *nginx.Config {
		return config(t, "http { server {"+nginx.New("access_log", args...).String()+"} }")
	}
	for _, c := range []struct {
		conf *nginx.Config
		want bool
	}{
		{in("/log", "combined", "buffer=64k"), true},
		{in("/log", "combined", "gzip=1"), true},
		{in("/log"), false},
		{in("/other", "combined", "buffer=64k"), false},
		{in("off"), false},
		{nil, false},
	} {
		if got := newLogFlush(c.conf, host.Local{}, "/log", none) != nil; got != c.want {
			t.Errorf("%v: %v, want %v", c.conf, got, c.want)
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
		conf := "events {}"
		if text != "" {
			conf += "error_log " + text + ";"
		}
		if got := hidesWarnings(config(t, conf)); got != want {
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
		if got := hidesWarnings(config(t, text)); got != want {
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
	tellUnread(ob, []index.Unread{{Query: index.Query{SQL: "administrator command: Prepare", Seconds: 9}}, {Query: index.Query{SQL: "SET x = 1"}}})
	if len(ob.Run.Warnings) != 0 {
		t.Errorf("%q", ob.Run.Warnings)
	}
	tellUnread(ob, []index.Unread{{Query: index.Query{SQL: "SELECT odd FROM", Seconds: 1.5}}, {Query: index.Query{SQL: " update odd", Seconds: 1}}})
	if len(ob.Run.Warnings) != 1 || !strings.Contains(ob.Run.Warnings[0], "2 kinds of statements, 2.5 s") || !strings.Contains(ob.Run.Warnings[0], "SELECT odd") {
		t.Errorf("%q", ob.Run.Warnings)
	}
}

// none is the process of an nginx that does not run.
func none() int { return 0 }
