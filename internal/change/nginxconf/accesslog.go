package nginxconf

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// accessLog turns access logs off, or makes nginx write several lines at a time.
type accessLog struct {
	Log    string `arg:"log,required" oneof:"off,buffered" help:"buffered, or off (weakens observability)"`
	Buffer string `arg:"buffer" default:"64k" help:"how many bytes are written at a time"`
	Flush  span   `arg:"flush" default:"1s" help:"after which time a line is written"`
}

// Validate is called by change.Decode.
func (a *accessLog) Validate() error {
	if n, ok := nginx.Size(a.Buffer); !ok || n < 1024 || n > 16<<20 {
		return fmt.Errorf("buffer %q: want a size, 1k to 16m", a.Buffer)
	}
	if a.Flush.zero() {
		return fmt.Errorf("flush %q: want a time, as 1s", a.Flush)
	}
	return nil
}

func (a *accessLog) Refine(act *change.Act) { act.Simplifies = a.Log != "off" }

func (a *accessLog) edit(t *task) error {
	if a.Log == "off" {
		t.Says = "write no access log"
		return t.logsOff()
	}
	found := false
	t.Walk(t.Root(), nil, func(p nginx.Place) {
		if p.Name() != "access_log" || len(p.Args()) == 0 || p.Arg(0) == "off" || strings.HasPrefix(p.Arg(0), "syslog:") || strings.Contains(p.Arg(0), "$") || p.Arg(0) == "/dev/null" {
			return // nginx does not buffer these, or refuses the line as it is
		}
		found = true
		was := p.Args()
		a.buffer(p)
		t.Weaken(promise.AccessLogs(was, p.Args())...)
	})
	if !found {
		return fmt.Errorf("no access_log writes to a file")
	}
	t.Says = fmt.Sprintf("write the lines of access logs together, %s or %s at a time", a.Buffer, a.Flush)
	return nil
}

// buffer adds buffer and flush to an access_log, after the name of the format,
// which is required then.
func (a *accessLog) buffer(p nginx.Place) {
	args := []string{p.Arg(0)}
	had := map[string]string{}
	for i, word := range p.Args()[1:] {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case ok && (name == "buffer" || name == "flush"):
			had[name] = value
		case i == 0 && ok:
			args = append(args, "combined", word)
		default:
			args = append(args, word)
		}
	}
	if len(args) == 1 {
		args = append(args, "combined")
	}
	if had["buffer"] != "" && nginxedit.SameValue(had["buffer"], a.Buffer) && nginxedit.SameValue(had["flush"], string(a.Flush)) {
		return
	}
	p.SetArgs(append(args, "buffer="+a.Buffer, "flush="+string(a.Flush))...)
}

// logsOff turns off every access log, and nginx's default log if none is
// configured.
func (t *task) logsOff() error {
	found := false
	t.Walk(t.Root(), nil, func(p nginx.Place) {
		if p.Name() != "access_log" {
			return
		}
		found = found || p.Within("http")
		t.Weaken(promise.AccessLogs(p.Args(), []string{"off"})...)
		p.SetArgs("off")
	})
	if found {
		return nil
	}
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	t.Weaken(promise.AccessLogs(nil, []string{"off"})...) // of nginx's default log
	http.Add(nginx.New("access_log", "off"))
	return nil
}
