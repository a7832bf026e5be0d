package workers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/appserver"
)

// edits are the edits of the places that decide.
func (t *task) edits() ([]change.Edit, error) {
	p := &places{task: t, variables: map[string]string{}}
	if err := p.add("processes", t.want.Workers, t.setup.Workers, &p.file.Workers, &p.command.Workers); err != nil {
		return nil, err
	}
	if err := p.add("threads", t.want.Threads, t.setup.Threads, &p.file.Threads, &p.command.Threads); err != nil {
		return nil, err
	}
	var edits []change.Edit
	for _, edit := range []func() (change.Edit, bool, error){p.environment, p.configuration, p.arguments} {
		e, changed, err := edit()
		if err != nil {
			return nil, err
		}
		if changed {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// places collects the settings by the place that decides them.
type places struct {
	*task
	variables     map[string]string
	options       wanted // of GUNICORN_CMD_ARGS
	file, command wanted
}

var errNotStarted = errors.New("iikanji does not start the service itself: set it where the service is started")

// add adds a setting to the place that decides it.
func (p *places) add(what string, n int, is appserver.Setting, file, command *int) error {
	if n == 0 {
		return nil
	}
	switch is.Place {
	case appserver.Command:
		if p.svc.ArgsFile == "" {
			return &NoPlaceError{p.setup.Server, what, "the option " + is.Name, errNotStarted}
		}
		*command = n
	case appserver.Variable:
		if p.svc.EnvFile == "" {
			return &NoPlaceError{p.setup.Server, what, "the variable " + is.Name, errNotStarted}
		}
		p.variable(is.Name, what, n)
	case appserver.File:
		*file = n
	default:
		return p.addDefault(what, n, is, file, command)
	}
	return nil
}

// addDefault adds a setting that nothing decides yet: to the environment, else to the
// configuration file, else to the command line.
func (p *places) addDefault(what string, n int, is appserver.Setting, file, command *int) error {
	switch {
	case is.Name != "" && p.svc.EnvFile != "":
		p.variable(is.Name, what, n)
	case p.setup.Config != "":
		*file = n
	case p.setup.Server == appserver.Gunicorn && p.svc.EnvFile != "":
		p.variable(appserver.CommandVariable, what, n)
	case p.setup.Args != nil && p.svc.ArgsFile != "":
		*command = n
	default:
		return &NoPlaceError{p.setup.Server, what, "", errNotStarted}
	}
	return nil
}

// variable sets a variable, or an option in gunicorn's variable of options.
func (p *places) variable(name, what string, n int) {
	switch {
	case name != appserver.CommandVariable:
		p.variables[name] = strconv.Itoa(n)
	case what == "threads":
		p.options.Threads = n
	default:
		p.options.Workers = n
	}
}

// header is that of every file of variables of a service.
const header = "# Variables that iikanji has set; see `iikanji history`. Read at each start of the app.\n"

// environment is the edit of the file of variables.
func (p *places) environment() (e change.Edit, changed bool, err error) {
	if p.options != (wanted{}) {
		words, ok := appserver.Words(p.setup.Options)
		if !ok {
			return e, false, &appserver.UnreadableError{Server: p.setup.Server, Where: appserver.CommandVariable, What: "the value"}
		}
		p.variables[appserver.CommandVariable] = strings.Join(appserver.WithOptions(p.setup.Server, words, p.options.Workers, p.options.Threads), " ")
	}
	if len(p.variables) == 0 {
		return e, false, nil
	}
	old, err := p.site.ReadOld(p.svc.Host, p.svc.EnvFile)
	if err != nil {
		return e, false, err
	}
	lines := change.Lines{Header: header, Read: change.EnvVariable, Write: func(name, value string) string { return name + "=" + value }}
	return change.Edit{Path: p.svc.EnvFile, Old: old, New: lines.Set(old, p.variables)}, true, nil
}

// configuration is the edit of the configuration file.
func (p *places) configuration() (e change.Edit, changed bool, err error) {
	if p.file == (wanted{}) {
		return e, false, nil
	}
	old, err := p.site.ReadOld(p.svc.Host, p.setup.Config)
	if err != nil {
		return e, false, err
	}
	text, err := appserver.WithConfig(p.setup.Server, string(old), p.file.Workers, p.file.Threads)
	if err != nil {
		return e, false, fmt.Errorf("editing %s: %w", p.setup.Config, err)
	}
	return change.Edit{Path: p.setup.Config, Old: old, New: []byte(text)}, true, nil
}

// arguments is the edit of the file with the command line.
func (p *places) arguments() (e change.Edit, changed bool, err error) {
	if p.command == (wanted{}) {
		return e, false, nil
	}
	old, err := p.site.ReadOld(p.svc.Host, p.svc.ArgsFile)
	if err != nil {
		return e, false, err
	}
	text, err := json.Marshal(appserver.WithArgs(p.setup.Server, p.setup.Args, p.command.Workers, p.command.Threads))
	if err != nil {
		return e, false, fmt.Errorf("writing the command line: %w", err)
	}
	return change.Edit{Path: p.svc.ArgsFile, Old: old, New: append(text, '\n')}, true, nil
}
