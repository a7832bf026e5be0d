package target

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// A Ref names the place of a secret. The file holds no secrets.
type Ref string

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// UnmarshalText checks the form of a reference. A text without a form is
// refused without repeating it: it may be the secret itself.
func (r *Ref) UnmarshalText(b []byte) error {
	kind, rest, _ := strings.Cut(string(b), ":")
	ok := false
	switch kind {
	case "env":
		ok = variableName.MatchString(rest)
	case "process", "dsn":
		service, name, _ := strings.Cut(rest, ":")
		ok = serviceName.MatchString(service) && variableName.MatchString(name)
	case "file":
		i := strings.LastIndexByte(rest, ':')
		ok = i > 0 && filepath.IsAbs(rest[:i]) && variableName.MatchString(rest[i+1:])
	case "source":
		ok = filepath.IsAbs(rest)
	}
	if !ok {
		return fmt.Errorf("not a reference; want env:NAME, process:SERVICE:NAME, dsn:SERVICE:NAME, file:/PATH:NAME or source:/PATH; a password must not stand in this file")
	}
	*r = Ref(b)
	return nil
}

// Env is the variable of iikanji's own environment, "" for another reference.
func (r Ref) Env() string { return r.after("env:") }

// Service is the service whose environment has the secret, and the variable.
func (r Ref) Service() (service, name string) {
	rest := r.after("process:")
	if rest == "" {
		rest = r.after("dsn:")
	}
	service, name, _ = strings.Cut(rest, ":")
	return service, name
}

// InDSN reports whether the variable holds a DSN with the secret in it.
func (r Ref) InDSN() bool { return strings.HasPrefix(string(r), "dsn:") }

// File is the file with a line NAME=value, and the name.
func (r Ref) File() (path, name string) {
	rest := r.after("file:")
	i := strings.LastIndexByte(rest, ':')
	if i < 0 {
		return "", ""
	}
	return rest[:i], rest[i+1:]
}

// Source is the source file with a DSN, "" for another reference.
func (r Ref) Source() string { return r.after("source:") }

func (r Ref) after(prefix string) string {
	rest, ok := strings.CutPrefix(string(r), prefix)
	if !ok {
		return ""
	}
	return rest
}
