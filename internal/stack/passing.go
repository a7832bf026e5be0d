package stack

import (
	"errors"
	"fmt"
	"path/filepath"
)

// passingName is the file of a passing drop-in in its service's folder: last
// in the alphabet, so that it wins.
const passingName = "zz-passing"

// passingPlaces are the folders that the services' configs include.
var passingPlaces = map[string]string{
	Database: filepath.Join(confDir, "mariadb.d", passingName+".cnf"),
	Nginx:    filepath.Join(confDir, "nginx.d", passingName+".conf"),
}

// Pass writes a drop-in config of the database or of nginx that lasts no
// longer than this stack: the next one that comes up in the folder removes it,
// also where this one was killed. An empty body removes it. It is in force
// when the service has been restarted.
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

// clearPassing removes what a killed stack passed.
func (f folder) clearPassing() error {
	var errs []error
	for _, place := range passingPlaces {
		errs = append(errs, removeFile(f.path(place)))
	}
	return errors.Join(errs...)
}
