package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sitefleet "github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/site/target"
)

// withMachines connects to the other machines of a site for the time of do, unless they are
// connected already. A machine that does not answer is told once: what is asked of it fails.
// write: files may be written there.
func withMachines(ctx context.Context, t *namedTarget, write bool, progress func(line string), do func() error) (err error) {
	if t.file == nil || t.hosts != nil || !slices.ContainsFunc(t.file.Hosts, func(h target.Host) bool { return !h.Here() }) {
		return do()
	}
	ids, err := t.identities()
	if err != nil {
		return err
	}
	lost := watchLost(ctx, systemEnv(), t)
	f, err := sitefleet.Open(ctx, t.file, sitefleet.Options{Write: write, Folders: t.grants, Claim: claimOf(t.file), Progress: progress, Known: ids, Ask: askSecret(systemEnv()), Changed: lost.changed})
	if err != nil {
		return err
	}
	t.hosts = f.Hosts()
	defer func() {
		t.hosts = nil
		err = errors.Join(err, f.Close())
		lost.sending.Wait()
	}()
	down := f.Down()
	for _, name := range slices.Sorted(maps.Keys(down)) {
		lost.changed(name, down[name])
		if progress != nil {
			progress(fmt.Sprintf("machine %s is not reached: %v", name, down[name]))
		}
	}
	return do()
}

// identities are the machines of the site as iikanji hosts has seen them, in its usual work
// folder.
func (t *namedTarget) identities() (map[string]string, error) {
	dir, err := t.defaultDir()
	if err != nil {
		return nil, err
	}
	return sitefleet.ReadIdentities(filepath.Join(dir, identitiesFile))
}

// claimOf names this machine and the folder of a site.
func claimOf(file *target.File) peer.Claim {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return peer.Claim{Site: name + ":" + filepath.Dir(file.Path), Command: strings.Join(os.Args[1:min(2, len(os.Args))], " ")}
}
