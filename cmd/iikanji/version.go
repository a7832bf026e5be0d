package main

import (
	"fmt"
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

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// A programVersion is what the build recorded of this program.
type programVersion struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionOf() programVersion {
	v := programVersion{"devel", "", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if is := info.Main.Version; is != "" && is != "(devel)" {
			v.Version = is
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value[:min(12, len(s.Value))]
			}
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

// Run prints one line: version, commit, compiler.
func (c *versionCmd) Run(e *env) error {
	v := versionOf()
	if c.JSON {
		return writeJSON(e.Stdout, v)
	}
	commit := v.Commit
	if commit != "" {
		commit = " " + commit
	}
	_, err := fmt.Fprintf(e.Stdout, "iikanji %s%s %s %s\n", v.Version, commit, v.Go, v.Platform)
	return err
}
