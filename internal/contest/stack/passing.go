package stack

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// passingName is the base name of a temporary drop-in config. It sorts last in
// its folder, so its settings override the others.
const passingName = "zz-passing"

// passingPlace returns the drop-in's path in the work folder, "" if the service's
// config includes no folder.
func passingPlace(svc *arena.Service) string {
	if svc == nil || svc.DropIns == "" {
		return ""
	}
	return filepath.Join(confDir, svc.DropIns, passingName+filepath.Ext(svc.MainConfig()))
}

// Pass writes a drop-in config of a service that lasts only as long as this stack: the next Up in the folder removes it, even if this stack was
// killed. An empty body removes it. The change takes effect when the service is
// restarted.
func (s *Stack) Pass(service, body string) error {
	place := passingPlace(s.arena.Service(service))
	if place == "" {
		return fmt.Errorf("configuring the %s: it has no folder of drop-ins", service)
	}
	path := s.dir.path(place)
	var err error
	if body == "" {
		err = removeFile(path)
	} else {
		err = s.dir.write([]byte(body), 0o644, place)
	}
	if err != nil {
		return fmt.Errorf("configuring the %s: %w", service, err)
	}
	return nil
}

// clearPassing removes the drop-ins that Pass wrote for an earlier stack.
func (f folder) clearPassing(services []arena.Service) error {
	var errs []error
	for i := range services {
		if place := passingPlace(&services[i]); place != "" {
			errs = append(errs, removeFile(f.path(place)))
		}
	}
	return errors.Join(errs...)
}
