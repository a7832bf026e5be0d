package policy_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// thisMachine are the files outside tests that name this machine, as host.Local{}, with the
// reason. Everything else takes the host of its service: a service may be on another machine.
var thisMachine = map[string]string{
	"cmd/iikanji/acting.go":                   "whose turn it is lies in the site's folder",
	"cmd/iikanji/collect.go":                  "collects what runs here",
	"cmd/iikanji/deploy.go":                   "what is kept of former versions",
	"cmd/iikanji/deploy_app.go":               "apps of this machine, and what is kept of the others",
	"cmd/iikanji/deploy_files.go":             "the ledger is here",
	"cmd/iikanji/finalize_host.go":            "the machine without a name",
	"cmd/iikanji/finalize_reboot.go":          "the note and the unit that goes on are here",
	"cmd/iikanji/hosts.go":                    "this machine among those of a site",
	"cmd/iikanji/init.go":                     "writes the site's file here",
	"cmd/iikanji/init_machines.go":            "tells this machine from the others",
	"cmd/iikanji/park_site.go":                "writes the file of a practice here",
	"cmd/iikanji/lost.go":                     "what the team was told is noted here",
	"cmd/iikanji/nice.go":                     "its own priority",
	"cmd/iikanji/peer.go":                     "the far end is on its own machine",
	"cmd/iikanji/price.go":                    "an arena's database",
	"cmd/iikanji/teammachines.go":             "this machine among those of a site",
	"cmd/iikanji/top.go":                      "shows what runs here",
	"cmd/iikanji/version.go":                  "the machine that the program runs on",
	"cmd/iikanji/work_watch.go":               "a watch of a log of this machine",
	"internal/day/finalize/reboot.go":         "the note of a reboot is here",
	"internal/change/site.go":                 "the host without a name",
	"internal/contest/lab/labtest/labtest.go": "a far end of tests",
	"internal/contest/stack/account.go":       "arenas run here",
	"internal/contest/stack/check.go":         "arenas run here",
	"internal/contest/stack/folder.go":        "arenas run here",
	"internal/contest/stack/lay.go":           "arenas run here",
	"internal/contest/stack/leftovers.go":     "arenas run here",
	"internal/contest/stack/manifest.go":      "arenas run here",
	"internal/contest/stack/proc.go":          "arenas run here",
	"internal/contest/stack/running.go":       "arenas run here",
	"internal/contest/stack/state.go":         "arenas run here",
	"internal/contest/stack/sweep.go":         "arenas run here",
	"internal/load/loader/command.go":         "the machine of a log that names none",
	"internal/site/livesite/placement.go":     "initialize of [bench] runs here",
	"internal/machine/fleet/identity.go":      "what is known of machines is here",
	"internal/machine/process/found.go":       "a process is started as it was found only here",
	"internal/machine/process/identity.go":    "processes that this one has started, or ends by a descriptor",
	"internal/machine/process/listen.go":      "a port that an arena wants",
	"internal/machine/process/ready.go":       "SelectOne of this machine",
	"internal/machine/process/reload.go":      "Reloaded and Children of this machine",
	"internal/machine/process/supervisor.go":  "its own record",
	"internal/machine/sshdial/hostkey.go":     "the known hosts of the user and the site are here",
	"internal/site/arenasite/of.go":           "arenas run here",
	"internal/site/discover/spares.go":        "the benchmarker's help is asked here",
	"internal/site/livesite/hosts.go":         "the machine without a name",
	"internal/site/livesite/outage.go":        "the work folder is here",
	"internal/site/livesite/sensors.go":       "hands that are no site",
	"internal/site/observe/environment.go":    "the machine that sends the load",
	"internal/site/observe/hosts.go":          "the host without a name",
}

func TestThisMachine(t *testing.T) {
	found := map[string]bool{}
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), "host.Local{}") {
				found[path] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(thisMachine)); !slices.Equal(got, want) {
		t.Errorf("files that name this machine:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
