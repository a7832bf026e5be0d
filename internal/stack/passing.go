package stack

import (
	"errors"
	"fmt"
	"path/filepath"
)

// passingName is the base name of a temporary drop-in config. It sorts last in
// its folder, so its settings override the others.
const passingName = "zz-passing"

// passingPlaces are the drop-ins' paths, in folders that the services' configs include.
var passingPlaces = map[string]string{
	Database: filepath.Join(confDir, "mariadb.d", passingName+".cnf"),
	Nginx:    filepath.Join(confDir, "nginx.d", passingName+".conf"),
}

// Pass writes a drop-in config of the database or of nginx that lasts only as
// long as this stack: the next Up in the folder removes it, even if this stack was
// killed. An empty body removes it. The change takes effect when the service is
// restarted.
func (s *Stack) Pass(service, body string) error {
	place, ok := passingPlaces[service]
	if !ok {
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
func (f folder) clearPassing() error {
	var errs []error
	for _, place := range passingPlaces {
		errs = append(errs, removeFile(f.path(place)))
	}
	return errors.Join(errs...)
}
