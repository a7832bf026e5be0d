package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Options are what a deployment needs.
type Options struct {
	Host host.Host // with the source and the program
	App  App
	// Keep is the host of Dir and From; nil for Host. Former versions of an app of another
	// machine are kept on that of the command, which outlives a lost connection.
	Keep host.Host
	Dir  string // where former versions are kept
	// As is the owner of a folder of source, with the environment of its commands.
	As   func(dir string) (*syscall.Credential, []string, error)
	Path string // PATH of commands, "" for that of As
	// Restart makes the service run what is deployed: a restart, or a reload. It returns when
	// it answers.
	Restart func(ctx context.Context) error
	// Healthy asks once whether the app serves.
	Healthy func(ctx context.Context) error
	// Log is the end of what the service has logged.
	Log func() []string
	// Limit is how long the new version may take to be healthy; 0 for DefaultLimit.
	Limit time.Duration
	Say   func(line string)
	Now   func() time.Time
	// Forbids is the host of a git remote if it is never connected to, "" otherwise; nil for
	// none.
	Forbids func(remote string) (host string)
	// From is a folder whose files are put into the source first; "" for none.
	From string
}

// keeps is the host of what is kept.
func (o *Options) keeps() host.Host {
	if o.Keep != nil {
		return o.Keep
	}
	return o.Host
}

// DefaultLimit is how long a new version may take to be healthy.
const DefaultLimit = 30 * time.Second

// A Result is a deployment that serves.
type Result struct {
	Service string        `json:"service"`
	Host    string        `json:"host,omitempty"` // "" for the machine of the command
	Form    string        `json:"form"`
	Changed []string      `json:"changed,omitempty"` // files since the last good version
	Took    time.Duration `json:"took_ns"`
	Healthy time.Duration `json:"healthy_ns"` // from the restart until it served
	Program string        `json:"program,omitempty"`
}

// A FailedError is a version that does not serve.
type FailedError struct {
	Service string
	Why     error
	Log     []string // its last lines
	// Returned: the former version serves again; otherwise Still is why it does not.
	Returned bool
	Still    error
	Kept     string // where the failed source is kept, "" if it is as it was
}

func (e *FailedError) Error() string {
	text := fmt.Sprintf("the new version of %s does not serve: %v", e.Service, e.Why)
	if len(e.Log) > 0 {
		text += "\nits last lines:\n  " + strings.Join(e.Log, "\n  ")
	}
	if e.Returned {
		return text + "\nthe former version serves again"
	}
	return text + fmt.Sprintf("\nTHE FORMER VERSION DOES NOT SERVE EITHER: %v", e.Still)
}

func (e *FailedError) Unwrap() []error { return []error{e.Why, e.Still} }

// Hints tells where the failed source is.
func (e *FailedError) Hints() []string {
	if e.Kept == "" {
		return nil
	}
	return []string{"the source is as it was before; the failed one is kept: iikanji deploy --failed DIR writes it into a folder"}
}

// A deployment is one deployment under way.
type deployment struct {
	o      Options
	form   Form
	store  store
	record record
	now    *tree // the source as it is
	former []byte
	root   string      // the source's path without links
	owner  *host.Owner // of the source; nil for the account of this process
	// restored: the source is that of the last good version again.
	restored bool
}

func (d *deployment) say(format string, args ...any) {
	if d.o.Say != nil {
		d.o.Say(fmt.Sprintf(format, args...))
	}
}

// open reads the source and what is kept.
func open(o Options) (*deployment, error) {
	form, err := Detect(o.Host, &o.App)
	if err != nil {
		return nil, err
	}
	d := &deployment{o: o, form: form, store: store{o.keeps(), o.Dir}}
	if err := d.store.makeFolders(); err != nil {
		return nil, err
	}
	if d.record, err = d.store.read(); err != nil {
		return nil, err
	}
	if d.root, err = o.Host.RealPath(o.App.Source); err != nil {
		return nil, fmt.Errorf("reading the source of %s: %w", o.App.Name, err)
	}
	cred, _, err := o.As(d.root)
	if err != nil {
		return nil, fmt.Errorf("reading the owner of the source: %w", err)
	}
	if cred != nil {
		d.owner = &host.Owner{UID: int(cred.Uid), GID: int(cred.Gid)}
	}
	d.now, err = d.store.take(o.Host, o.App.Source)
	return d, err
}

// Deploy puts the present source into service. The error is a *StepError if nothing was
// changed, and a *FailedError if the new version did not serve.
func Deploy(ctx context.Context, o Options) (*Result, error) {
	began := o.Now()
	d, err := open(o)
	if err != nil {
		return nil, err
	}
	if d.record.Under != "" {
		d.say("the deployment of %s was killed: what it replaced is still kept", d.record.Under)
	}
	if err := d.keep(ctx); err != nil {
		return nil, err
	}
	res := &Result{Service: o.App.Name, Host: o.Host.Name(), Form: d.form.Name, Changed: d.changed()}
	if err := d.ready(ctx); err != nil {
		return nil, err
	}
	at := o.Now()
	if err := d.serve(ctx, d.o.Restart); err != nil {
		return nil, d.back(ctx, err)
	}
	res.Healthy, res.Took, res.Program = o.Now().Sub(at), o.Now().Sub(began), o.App.Program
	d.record.Good, d.record.Failed, d.record.Under, d.record.Lock = d.now, nil, "", d.lockSum()
	return res, d.store.write(d.record, d.now)
}

// keep keeps what serves now: the program, and the source before another one is put in.
func (d *deployment) keep(ctx context.Context) error {
	if d.form.Program {
		b, err := d.o.Host.Read(d.o.App.Program)
		if err != nil {
			return fmt.Errorf("keeping the former program: %w", err)
		}
		if d.record.Under == "" || d.record.Program == "" {
			if d.record.Program, err = d.store.put(b); err != nil {
				return err
			}
		}
		if d.former, err = d.store.get(d.record.Program); err != nil {
			return err
		}
	}
	if d.record.Good == nil {
		d.record.Good = d.earlier(ctx)
	}
	if d.record.Good == nil && !d.form.Program {
		d.say("no earlier version of the source is known: if this one does not serve, nothing can return")
	}
	d.record.Under = fmt.Sprintf("%s at %s", d.o.App.Name, d.o.Now().Local().Format("15:04:05"))
	if err := d.store.write(d.record, d.now); err != nil {
		return err
	}
	if d.o.From != "" {
		if d.record.Good == nil {
			d.record.Good = d.now
		}
		if err := d.bring(); err != nil {
			return err
		}
	}
	if d.record.Good != nil && len(difference(d.now, d.record.Good)) > 0 {
		d.record.Before = d.record.Good
	}
	return nil
}

// bring puts the files of a folder into the source.
func (d *deployment) bring() error {
	other, err := d.store.take(d.o.keeps(), d.o.From)
	if err != nil {
		return err
	}
	merged := &tree{Version: 1, Files: map[string]entry{}}
	for path, e := range d.now.Files {
		merged.Files[path] = e
	}
	for path, e := range other.Files {
		merged.Files[path] = e
	}
	if _, err := d.become(merged); err != nil {
		return err
	}
	d.now = merged
	return nil
}

// changed are the files that differ from the last good version.
func (d *deployment) changed() (out []string) {
	if d.record.Good == nil {
		return nil
	}
	return difference(d.now, d.record.Good)
}

// ready checks and builds the new version. On an error the former one has served on, and
// what the steps have changed is as before.
func (d *deployment) ready(ctx context.Context) error {
	err := d.check(ctx)
	installed := false
	if err == nil {
		installed, err = d.install(ctx)
	}
	var made []byte
	if err == nil {
		made, err = d.build(ctx)
	}
	if err == nil && d.form.Program {
		err = d.o.Host.Write(d.o.App.Program, made, 0o755)
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, d.undo(context.WithoutCancel(ctx), installed))
}

// undo restores program, source and dependencies after a step that failed before a restart.
func (d *deployment) undo(ctx context.Context, installed bool) error {
	if d.form.Program { // the site's own build command may have written it
		if now, err := d.o.Host.Read(d.o.App.Program); err != nil || string(now) != string(d.former) {
			if err := d.o.Host.Write(d.o.App.Program, d.former, 0o755); err != nil {
				return fmt.Errorf("restoring the former program: %w", err)
			}
		}
	}
	if err := d.sourceBack(d.o.From != "" || installed || d.form.Live); err != nil {
		return err
	}
	if installed {
		if err := d.shell(ctx, "dependencies of the former version", d.form.Install, nil); err != nil {
			return err
		}
	}
	d.record.Under = ""
	return d.store.write(d.record, d.now)
}

// sourceBack makes the source that of the last good version, and keeps the present one.
func (d *deployment) sourceBack(wanted bool) error {
	if !wanted || d.record.Good == nil || d.restored {
		return nil
	}
	changed, err := d.become(d.record.Good)
	if len(changed) > 0 {
		d.record.Failed = d.now
	}
	d.restored = err == nil
	return err
}

// serve restarts the service and waits until it is healthy.
func (d *deployment) serve(ctx context.Context, restart func(context.Context) error) error {
	limit := d.o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := restart(ctx); err != nil {
		return err
	}
	var last error
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		if last = d.o.Healthy(ctx); last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not healthy after %v: %w", limit, last)
		case <-time.After(pause):
		}
	}
}

// back returns the former version after one that does not serve.
func (d *deployment) back(ctx context.Context, why error) error {
	failed := &FailedError{Service: d.o.App.Name, Why: why}
	if d.o.Log != nil {
		failed.Log = d.o.Log()
	}
	ctx = context.WithoutCancel(ctx) // Ctrl-C must not leave the site without a version that serves
	d.say("the new version does not serve; the former one returns")
	if lost := host.Reconnect(ctx, d.o.Host); lost != nil {
		failed.Still = lost
		return failed
	}
	installed := d.record.Lock != "" && d.record.Lock != d.lockSum()
	err := d.undo(ctx, installed)
	if err == nil && !d.form.Program {
		err = d.sourceBack(true)
	}
	if d.record.Failed != nil {
		failed.Kept = d.store.dir
	}
	if err == nil {
		err = errors.Join(d.store.write(d.record, d.now), d.serve(ctx, d.o.Restart))
	}
	failed.Returned, failed.Still = err == nil, err
	return failed
}
