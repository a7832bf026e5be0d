package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/iikanji/iikanji"
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
	if err := s.OnOneHost(service); err != nil {
		return "", err
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

// OnOneHost refuses a service with instances on further hosts, whose source is edited on its
// own one only.
func (s *Site) OnOneHost(service string) error {
	of, _ := s.Target.Service(service)
	if len(of.Instances) == 0 {
		return nil
	}
	return fmt.Errorf("%s runs on further hosts, %s: an edit of its source would be on one of them only", service, strings.Join(of.Instances, ", "))
}

// SourceHere is a folder of this machine with the source of a service: that of SourceOf, or
// the mirror of one of another host.
func (s *Site) SourceHere(ctx context.Context, service string) (string, error) {
	source, err := s.SourceOf(service)
	if err == nil {
		_, source, err = s.here(ctx, s.Services[service], source)
	}
	return source, err
}

// here is where the source of a service can be read by programs of this machine, see
// Service.Readable, with the host of that folder.
func (s *Site) here(ctx context.Context, svc Service, source string) (host.Host, string, error) {
	dir, err := svc.Readable(ctx, source)
	if err != nil {
		return nil, "", err
	}
	on := svc.Host
	if svc.Mirror != nil {
		on = ""
	}
	h, err := s.On(on)
	return h, dir, err
}

// Readable is where programs of this machine read the source of a service: in source, its
// folder, or in the mirror of one of another host.
func (svc Service) Readable(ctx context.Context, source string) (dir string, err error) {
	if svc.Mirror == nil {
		return source, nil
	}
	return svc.Mirror(ctx)
}

// FromSource makes Do and Undo of a change of a service's source, as [FromEdits] does with a
// restart, which builds it. Other services that are built from the same folder are restarted
// behind it, unless the edits are within the package of the Go program, which no other
// program imports.
func (s *Site) FromSource(c *iikanji.Change, edits ...Edit) {
	FromEdits(c, iikanji.Restart, edits...)
	svc, own := s.Services[c.Target], ""
	source, err := s.SourceOf(c.Target)
	if err != nil {
		return // nothing is built
	}
	if svc.Package != "" && svc.Package != "." {
		own = filepath.Join(source, svc.Package)
	}
	if !slices.ContainsFunc(edits, func(e Edit) bool { return filepath.Dir(e.Path) != own && beneath(e.Path, source) }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Services)) {
		o := s.Services[name]
		if name == c.Target || o.Source != svc.Source || o.Source == "" || o.Host != svc.Host || !o.Builds || o.Running == nil || o.EnableFile != "" {
			continue
		}
		op := iikanji.Op{Verb: iikanji.Restart, Host: o.Host, Place: name}
		c.Do, c.Undo = append(c.Do, op), append(c.Undo, op)
	}
}

// beneath reports whether a path is below a folder.
func beneath(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
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
