package deploy

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Back returns the version before the last deployment: the program that it replaced, or of an
// interpreted app the source. Edits since are kept as the failed version.
func Back(ctx context.Context, o Options) error {
	d, err := open(o)
	if err != nil {
		return err
	}
	if d.record.Under != "" || d.record.Before == nil { // it was killed; or kept by an older iikanji
		d.record.Before = d.record.Good
	}
	switch {
	case d.form.Program && d.record.Program == "", !d.form.Program && d.record.Before == nil:
		return fmt.Errorf("no former version of %s is kept", o.App.Name)
	case d.form.Program:
		b, err := d.store.get(d.record.Program)
		if err != nil {
			return err
		}
		if err := o.Host.Write(o.App.Program, b, 0o755); err != nil {
			return fmt.Errorf("restoring the former program: %w", err)
		}
	default:
		if err := d.sourceBefore(ctx); err != nil {
			return err
		}
	}
	d.record.Under = ""
	if err := d.store.write(d.record, d.now); err != nil {
		return err
	}
	return d.serve(ctx, o.Restart)
}

// sourceBefore makes the source that before the last deployment, with its dependencies.
func (d *deployment) sourceBefore(ctx context.Context) error {
	lock := d.lockSum()
	changed, err := d.become(d.record.Before)
	if len(changed) > 0 {
		d.record.Failed = d.now
	}
	if err != nil {
		return err
	}
	d.now, d.record.Good = d.record.Before, d.record.Before
	if now := d.lockSum(); now != lock && now != "" && d.form.Install != "" {
		if err := d.shell(ctx, "dependencies of the former version", d.form.Install, nil); err != nil {
			return err
		}
	}
	d.record.Lock = d.lockSum()
	return nil
}

// HasFailed reports whether a version that did not serve is kept in a folder of a host.
func HasFailed(h host.Host, dir string) bool {
	r, err := (&store{h, dir}).read()
	return err == nil && r.Failed != nil
}

// Failed writes the source of the last version that did not serve into a folder of the host
// of what is kept.
func Failed(o Options, into string) (int, error) {
	d := &deployment{o: Options{Host: o.keeps()}, store: store{o.keeps(), o.Dir}}
	var err error
	if d.record, err = d.store.read(); err != nil {
		return 0, err
	}
	if o.Keep == nil { // the owner of the source can then edit them
		if cred, _, err := o.As(o.App.Source); err == nil && cred != nil {
			d.owner = &host.Owner{UID: int(cred.Uid), GID: int(cred.Gid)}
		}
	}
	if d.record.Failed == nil {
		return 0, fmt.Errorf("no failed version of %s is kept", o.App.Name)
	}
	for rel, e := range d.record.Failed.Files {
		if err := d.restore(into, rel, e); err != nil {
			return 0, err
		}
	}
	return len(d.record.Failed.Files), nil
}
