package appenv

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/change"
)

// An environment holds the application's variables: its own, overridden by the
// file.
type environment struct {
	path  string // of the file, "" without one
	old   []byte // nil: no file
	now   map[string]string
	later map[string]string // to be set in the file
	// secret is what the source adds to the DSN of a variable that holds a password: the file,
	// and with it the history, would have the password.
	secret []addition
}

// An addition is a text for the end of a DSN, and the variable that has the DSN.
type addition struct{ variable, text string }

func readEnv(s *change.Site, svc change.Service) (*environment, error) {
	e := &environment{path: svc.EnvFile, now: map[string]string{}, later: map[string]string{}}
	for _, kv := range svc.Env {
		name, value, _ := strings.Cut(kv, "=")
		e.now[name] = value
	}
	if e.path == "" {
		return e, nil
	}
	var err error
	if e.old, err = s.ReadOld(svc.Host, e.path); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(e.old)) {
		if name, value, ok := change.EnvVariable(line); ok {
			e.now[name] = value
		}
	}
	return e, nil
}

// set records the new values of variables.
func (e *environment) set(w *wanted) error {
	for _, name := range slices.Sorted(maps.Keys(w.Env)) {
		now, has := e.now[name]
		if err := allowed(name, w.Env[name], now, has); err != nil {
			return err
		}
		if err := e.put(name, w.Env[name]); err != nil {
			return err
		}
	}
	return nil
}

func (e *environment) put(name, value string) error {
	if now, has := e.now[name]; has && now == value {
		return nil
	}
	if e.path == "" {
		return fmt.Errorf("the service has no file for further variables")
	}
	e.later[name] = value
	return nil
}

// setDSN sets parameters in the variables that hold a DSN, and reports whether
// there are any.
func (e *environment) setDSN(params []param) (found bool, err error) {
	for _, name := range slices.Sorted(maps.Keys(e.now)) {
		d, ok := parseDSN(e.now[name])
		if !ok {
			continue
		}
		// The error would quote the value, which holds a password.
		if _, err := mysql.ParseDSN(d.text); err != nil {
			continue
		}
		found = true
		edits, err := d.set(params)
		if err != nil {
			return true, fmt.Errorf("the DSN in %s: %w", name, err)
		}
		text := splices(edits).apply(d.text)
		if _, err := mysql.ParseDSN(text); err != nil {
			return true, fmt.Errorf("the DSN in %s would not be one any more", name)
		}
		if hasPassword(text) && text != d.text && !slices.ContainsFunc(params, func(p param) bool { return p.socket }) {
			e.secret = append(e.secret, addition{name, suffix(d.text, params)})
			continue
		}
		if err := e.put(name, text); err != nil {
			return true, err
		}
	}
	return found, nil
}

// suffix is what sets parameters at the end of a DSN: of two values, the last takes effect.
func suffix(dsn string, params []param) string {
	var list []string
	for _, p := range params {
		list = append(list, p.name+"="+p.value)
	}
	sign := "?"
	if strings.Contains(dsn, "?") {
		sign = "&"
	}
	return sign + strings.Join(list, "&")
}

const header = "# Variables that iikanji has set; see `iikanji history`. Read at each start of the app.\n"

// edit returns the edit of the file.
func (e *environment) edit() (change.Edit, bool) {
	if len(e.later) == 0 {
		return change.Edit{}, false
	}
	lines := change.Lines{Header: header, Read: change.EnvVariable, Write: func(name, value string) string { return name + "=" + value }}
	return change.Edit{Path: e.path, Old: e.old, New: lines.Set(e.old, e.later)}, true
}
