package topology

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/tree"
)

// unitFiles are the files that make up an app on its host.
type unitFiles struct {
	fragment string   // of the unit
	dropIns  []string // other than ours
	envs     []string // files of variables
	program  string   // of its main process
	folders  []string // whole: the source, and the working folder
}

// unitFiles reads what the app needs on another host.
func (s *spread) unitFiles() (u unitFiles, err error) {
	is, err := change.ShowUnit(s.ctx, s.home, s.svc.Unit, "FragmentPath", "DropInPaths", "EnvironmentFiles", "WorkingDirectory", "MainPID")
	if err != nil {
		return u, err
	}
	if is["MainPID"] == "" || is["MainPID"] == "0" {
		return u, fmt.Errorf("%s does not run on its own host", s.svc.Unit)
	}
	if u.program, err = s.home.Readlink("/proc/" + is["MainPID"] + "/exe"); err != nil {
		return u, fmt.Errorf("finding the program of %s: %w", s.svc.Unit, err)
	}
	u.fragment = is["FragmentPath"]
	for path := range strings.FieldsSeq(is["DropInPaths"]) {
		if filepath.Base(path) != dropInName {
			u.dropIns = append(u.dropIns, path)
		}
	}
	for line := range strings.Lines(is["EnvironmentFiles"]) { // "/home/isucon/env (ignore_errors=no)"
		path, _, _ := strings.Cut(strings.TrimSpace(line), " (")
		if filepath.IsAbs(path) && filepath.Base(path) != envName {
			u.envs = append(u.envs, path)
		}
	}
	svc := s.site.Services[s.svc.Name]
	for _, folder := range []string{cmp.Or(svc.Source, svc.SourceThere), strings.TrimLeft(is["WorkingDirectory"], "!-"), filepath.Dir(u.program)} {
		top, ok := s.topOf(folder)
		if ok && !slices.ContainsFunc(u.folders, func(f string) bool { return f == top || strings.HasPrefix(top, f+"/") }) {
			u.folders = append(u.folders, top)
		}
	}
	return u, nil
}

// topOf is the folder to copy for a folder of the app: the one of the policy's folders that it
// is below, or the first below that if it is the home of an account. ok is false for a folder
// that no folder of the policy has, as that of an interpreter.
func (s *spread) topOf(folder string) (top string, ok bool) {
	if !filepath.IsAbs(folder) {
		return "", false
	}
	real, err := s.home.RealPath(folder)
	if err != nil {
		return "", false
	}
	for _, root := range s.site.RootsOn(s.svc.Host) {
		root = filepath.Clean(root)
		rest, below := strings.CutPrefix(real, root+"/")
		if real != root && !below {
			continue
		}
		if parent := filepath.Dir(root); parent != "/home" && root != "/root" {
			return root, true
		}
		if first, _, _ := strings.Cut(rest, "/"); below && first != "" {
			return filepath.Join(root, first), true
		}
	}
	return "", false
}

// placed reports whether a path is in one of the folders that are copied.
func (u unitFiles) placed(path string) bool {
	return slices.ContainsFunc(u.folders, func(f string) bool { return strings.HasPrefix(path, f+"/") })
}

// sameFiles refuses an instance whose unit, program or variables differ from the app's own
// ones, and that no copied folder has. Their content may be secret, so that it is compared
// and never shown.
func (s *spread) sameFiles(i *instance) error {
	files := slices.Concat([]string{s.is.fragment}, s.is.dropIns, s.is.envs, []string{s.is.program})
	for _, path := range files {
		if s.is.placed(path) {
			continue
		}
		here, err := s.home.Read(path)
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		there, err := i.on.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s has no %s: put it there as it is on %s", i.name, path, hostText(s.svc.Host))
		} else if err != nil {
			return fmt.Errorf("reading %s on %s: %w", path, i.name, err)
		}
		if !bytes.Equal(here, there) {
			return fmt.Errorf("%s is another one on %s than on %s: make them the same", path, i.name, hostText(s.svc.Host))
		}
	}
	return nil
}

// differs reports whether a folder of the app is another one on an instance's host, by the
// names, sizes, times and modes of what it has.
func (s *spread) differs(i *instance, folder string) (bool, error) {
	here, err := listed(s, s.home, folder)
	if err != nil {
		return false, err
	}
	there, err := listed(s, i.on, folder)
	if err != nil {
		return false, err
	}
	return !slices.EqualFunc(here, there, sameEntry), nil
}

func listed(s *spread, h host.Host, folder string) (tree.Manifest, error) {
	on, err := tree.On(h)
	if err != nil {
		return nil, err
	}
	m, err := on.ListTree(s.ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	}
	return m, nil
}

// sameEntry reports whether two entries of folders are the same as far as a list shows.
func sameEntry(a, b tree.Entry) bool {
	if a.Path != b.Path || a.Mode != b.Mode || a.User != b.User || a.Group != b.Group || a.Size != b.Size || a.Link != b.Link {
		return false
	}
	return !a.Mode.IsRegular() || a.Time.Equal(b.Time)
}
