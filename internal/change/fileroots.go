package change

import (
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// isFileRoot reports whether a path without links is the file that a root is (see
// host.OneFile), which may be missing together with its folder.
func isFileRoot(h host.Host, root, path string) bool {
	if filepath.Base(root) != filepath.Base(path) {
		return false
	}
	dir, name := root, ""
	for range 3 { // the file, its folder, and the folder that this is made in
		if real, err := h.RealPath(dir); err == nil {
			return filepath.Join(real, name) == path
		}
		dir, name = filepath.Dir(dir), filepath.Join(filepath.Base(dir), name)
	}
	return false
}

// mayChangeUnit reports whether a unit of a host may be changed: all may where the whole
// folder of units may be written, else those whose drop-in may.
func (s *Site) mayChangeUnit(on, unit string) bool {
	roots := s.RootsOn(on)
	return slices.Contains(roots, UnitsFolder) || slices.Contains(roots, host.UnitFiles(unit)[0])
}

// ReloadsUnits reports whether a file of units may be written, so that systemd has to read
// them anew.
func ReloadsUnits(roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return r == UnitsFolder || within(UnitsFolder, r) })
}
