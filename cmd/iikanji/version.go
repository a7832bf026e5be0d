package main

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

type versionCmd struct {
	JSON bool `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (versionCmd) Help() string {
	return `Examples:
  iikanji version
  iikanji version --json

iikanji --version prints the same. The date is that of the commit.

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// A programVersion is what the build recorded of this program.
type programVersion struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit, in UTC
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// pseudoVersion is the version that the go command gives to a commit without a tag. It ends
// with the commit's time and hash.
var pseudoVersion = regexp.MustCompile(`[-.](\d{4})(\d\d)(\d\d)\d{6}-([0-9a-f]{12})(?:\+.*)?$`)

func versionOf() programVersion {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

// versionIn reads the version from what the build recorded; nil is a build without records.
// A go build in a clone records the commit and its time. A module that "go install"
// downloads has no more than its version.
func versionIn(info *debug.BuildInfo) programVersion {
	v := programVersion{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return v
	}
	if is := info.Main.Version; is != "" && is != "(devel)" {
		v.Version = is
	}
	if m := pseudoVersion.FindStringSubmatch(v.Version); m != nil {
		v.Date, v.Commit = m[1]+"-"+m[2]+"-"+m[3], m[4]
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time": // RFC 3339, in UTC
			v.Date, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return v
}

// machine describes the machine and the program, for the runs that they make.
func machine() *iikanji.Machine {
	v := versionOf()
	program := v.Version
	if v.Commit != "" && !strings.Contains(v.Version, v.Commit) {
		program += " " + v.Commit
	}
	return hoststat.Machine(host.Local{}, program)
}

// Run prints one line: version, commit, date, compiler, platform.
func (c *versionCmd) Run(e *env) error {
	v := versionOf()
	if c.JSON {
		return writeJSON(e.Stdout, v)
	}
	_, err := fmt.Fprintln(e.Stdout, v)
	return err
}

// String is one line. It says "unknown" if the build did not record the commit.
func (v programVersion) String() string {
	return fmt.Sprintf("iikanji %s, commit %s of %s, %s %s",
		v.Version, cmp.Or(v.Commit, "unknown"), cmp.Or(v.Date, "unknown date"), v.Go, v.Platform)
}
