package nginxedit

import (
	"regexp"
	"testing"
)

// TestPatternOfRoute: a placeholder stands for a segment, or for one with an ending.
func TestPatternOfRoute(t *testing.T) {
	for route, want := range map[string]routePattern{
		"/a/:id":                 {"^/a/[^/]+$", "/a/", "/a/iikanji"},
		"/covers/:id.png":        {`^/covers/[^/]+\.png$`, "/covers/", "/covers/iikanji.png"},
		"/a/:b/c.d/:id.tar":      {`^/a/[^/]+/c\.d/[^/]+\.tar$`, "/a/", "/a/iikanji/c.d/iikanji.tar"},
		"/a/:id.png/:other/x.js": {`^/a/[^/]+\.png/[^/]+/x\.js$`, "/a/", "/a/iikanji.png/iikanji/x.js"},
	} {
		got, err := patternOfRoute(route)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", route, got, err)
			continue
		}
		if !regexp.MustCompile(got.expression).MatchString(got.sample) {
			t.Errorf("%s: %s does not match %s", route, got.expression, got.sample)
		}
	}
	for _, route := range []string{"/a/b", "/a/:id-x", "/a/:id.", "/a/:id.p.q"} {
		if got, err := patternOfRoute(route); err == nil {
			t.Errorf("%s: %+v", route, got)
		}
	}
}
