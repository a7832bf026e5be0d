package change

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// systemctl is systemd's own command.
const systemctl = "/usr/bin/systemctl"

// Systemctl runs systemctl on a host. Its error has the output.
func Systemctl(ctx context.Context, h host.Host, args ...string) (string, error) {
	r, err := h.Exec(ctx, host.Command{Path: systemctl, Args: args, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}})
	if err != nil {
		return "", err
	}
	if r.Status != 0 {
		return "", fmt.Errorf("systemctl %s: exit status %d: %s", strings.Join(args, " "), r.Status, strings.TrimSpace(string(r.Output)))
	}
	return string(r.Output), nil
}

// ShowUnit reads properties of a unit of a host; times are seconds of the epoch behind "@".
func ShowUnit(ctx context.Context, h host.Host, unit string, properties ...string) (map[string]string, error) {
	if !unitForm.MatchString(unit) {
		return nil, fmt.Errorf("%q is no name of a unit", unit)
	}
	text, err := Systemctl(ctx, h, "show", "--no-pager", "--timestamp=unix", "-p", strings.Join(properties, ","), "--", unit)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			if before := all[key]; before != "" { // EnvironmentFiles comes once for each file
				value = before + "\n" + value
			}
			all[key] = value
		}
	}
	return all, nil
}

// ReadUnit reads the state of a unit, and the links by which the boot starts it: those that
// are there, or, of a unit that is not enabled, those that its section [Install] asks for.
func ReadUnit(ctx context.Context, h host.Host, unit string) (UnitState, []UnitLink, error) {
	is, err := ShowUnit(ctx, h, unit, "LoadState", "ActiveState", "FragmentPath", "Names")
	if err != nil {
		return UnitState{}, nil, err
	}
	file := is["FragmentPath"]
	if is["LoadState"] != "loaded" || file == "" {
		return UnitState{}, nil, fmt.Errorf("%s has no unit file: systemd says %q", unit, is["LoadState"])
	}
	state, err := activeState(ctx, h, unit)
	if err != nil {
		return UnitState{}, nil, err
	}
	now := UnitState{Active: state == "active"}
	var links []UnitLink
	for _, dir := range []string{UnitsFolder, UnitsFolder + "/*.wants", UnitsFolder + "/*.requires"} {
		paths, err := h.Glob(dir + "/*")
		if err != nil {
			return now, nil, fmt.Errorf("looking for the links of %s: %w", unit, err)
		}
		for _, path := range paths {
			if target, err := h.Readlink(path); err == nil && path != file && target != "" && filepath.IsAbs(target) &&
				(target == file || filepath.Base(target) == filepath.Base(file) && (filepath.Base(path) == unit || sameFile(h, target, file))) {
				links = append(links, UnitLink{Path: path, Target: target})
			}
		}
	}
	now.Enabled = len(links) > 0
	if now.Enabled {
		return now, links, nil
	}
	text, err := h.Read(file)
	if err != nil {
		return now, nil, fmt.Errorf("reading %s: %w", file, err)
	}
	for _, path := range installed(string(text), unit) {
		links = append(links, UnitLink{Path: path, Target: file, Folder: missing(h, filepath.Dir(path))})
	}
	return now, links, nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(h host.Host, a, b string) bool {
	ra, err := h.RealPath(a)
	rb, err2 := h.RealPath(b)
	return err == nil && err2 == nil && ra == rb
}

// installed are the links that the section [Install] of a unit file asks for. Specifiers and
// templates are left out.
func installed(text, unit string) (links []string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "[Install]" {
			continue
		}
		for name := range strings.FieldsSeq(value) {
			if !unitForm.MatchString(name) {
				continue
			}
			switch strings.TrimSpace(key) {
			case "WantedBy":
				links = append(links, UnitsFolder+"/"+name+".wants/"+unit)
			case "RequiredBy":
				links = append(links, UnitsFolder+"/"+name+".requires/"+unit)
			case "Alias":
				links = append(links, UnitsFolder+"/"+name)
			}
		}
	}
	return links
}
