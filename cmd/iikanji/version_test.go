package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestVersionIn reads the records of each way to build.
func TestVersionIn(t *testing.T) {
	compiler := ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for name, c := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		"go build in a clone at a tag": {"v0.1.0",
			[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-27T18:30:46Z"}},
			"iikanji v0.1.0, commit 0123456789ab of 2026-11-27"},
		"go build in a changed clone": {"v0.1.1-0.20261128010203-0123456789ab+dirty",
			[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-28T01:02:03Z"}},
			"iikanji v0.1.1-0.20261128010203-0123456789ab+dirty, commit 0123456789ab of 2026-11-28"},
		"go install of a tag":    {"v0.1.0", nil, "iikanji v0.1.0, commit unknown of unknown date"},
		"go install of a commit": {"v0.0.0-20261127183046-0123456789ab", nil, "iikanji v0.0.0-20261127183046-0123456789ab, commit 0123456789ab of 2026-11-27"},
		"without records of git": {"(devel)", nil, "iikanji devel, commit unknown of unknown date"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}
		if got := versionIn(info).String(); got != c.want+compiler {
			t.Errorf("%s: %q, want %q", name, got, c.want+compiler)
		}
	}
	if got, want := versionIn(nil).String(), "iikanji devel, commit unknown of unknown date"+compiler; got != want {
		t.Errorf("without any records: %q, want %q", got, want)
	}
}
