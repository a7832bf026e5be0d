package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// SourceOf returns the source folder of a service, with links resolved. It must
// lie in one of the site's folders.
func (s *Site) SourceOf(service string) (string, error) {
	svc, ok := s.Services[service]
	if !ok || svc.Source == "" {
		return "", fmt.Errorf("no service %q with a known source", service)
	}
	if !svc.Builds {
		return "", fmt.Errorf("no command is known that compiles the source of %s or restarts it", service)
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return "", fmt.Errorf("finding the source of %s: %w", service, err)
	}
	real, err := h.RealPath(svc.Source)
	if err != nil {
		return "", fmt.Errorf("finding the source of %s: %w", service, err)
	}
	for _, root := range s.RootsOn(svc.Host) {
		if root, err = h.RealPath(root); err == nil && (real == root || strings.HasPrefix(real, root+string(filepath.Separator))) {
			return real, nil
		}
	}
	return "", fmt.Errorf("the source of %s, %s, is outside the folders of the target", service, svc.Source)
}

// GoModule is the import path of the Go module in a folder.
func GoModule(h host.Host, dir string) (string, error) {
	body, err := h.Read(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("finding the app's module: %w", err)
	}
	module := modfile.ModulePath(body)
	if module == "" {
		return "", errors.New("finding the app's module: go.mod has no module path")
	}
	return module, nil
}
