package nginxconf

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// editAccessLog turns access logs off, or has lines written together.
func editAccessLog(t *task) error {
	how, err := t.word("log", "", "off", "buffered")
	if err != nil || how == "" {
		return fmt.Errorf("log %q: want off or buffered", t.args["log"])
	}
	if how == "off" {
		t.weaken(iikanji.Observability)
		t.says = "write no access log"
		return t.logsOff()
	}
	buffer, flush := t.arg("buffer", "64k"), t.arg("flush", "1s")
	if n, ok := bytesOf(buffer); !ok || n < 1024 || n > 16<<20 {
		return fmt.Errorf("buffer %q: want a size", buffer)
	}
	if d, ok := timeOf(flush); !ok || d == 0 {
		return fmt.Errorf("flush %q: want a time, as 1s", flush)
	}
	found := false
	t.walk(t.root(), nil, func(p place) {
		if p.name() != "access_log" || p.arg(0) == "off" || strings.HasPrefix(p.arg(0), "syslog:") || strings.Contains(p.arg(0), "$") || p.arg(0) == "/dev/null" {
			return // nginx buffers none of these
		}
		found = true
		p.buffered(buffer, flush)
	})
	if !found {
		return fmt.Errorf("no access_log names a file")
	}
	t.says = fmt.Sprintf("write the lines of access logs together, %s or %s at a time", buffer, flush)
	return nil
}

// buffered adds buffer and flush to an access_log, behind the format's name,
// which must be there then.
func (p place) buffered(buffer, flush string) {
	args := []string{p.arg(0)}
	had := map[string]string{}
	for i, a := range p.args()[1:] {
		name, value, ok := strings.Cut(a, "=")
		switch {
		case ok && (name == "buffer" || name == "flush"):
			had[name] = value
		case i == 0 && ok:
			args = append(args, "combined", a)
		default:
			args = append(args, a)
		}
	}
	if len(args) == 1 {
		args = append(args, "combined")
	}
	if had["buffer"] != "" && sameValue(had["buffer"], buffer) && sameValue(had["flush"], flush) {
		return
	}
	p.setArgs(append(args, "buffer="+buffer, "flush="+flush)...)
}

// logsOff turns off every access log, and nginx's own where none is configured.
func (t *task) logsOff() error {
	found := false
	t.walk(t.root(), nil, func(p place) {
		if p.name() != "access_log" {
			return
		}
		found = found || p.within("http")
		p.setArgs("off")
	})
	if found {
		return nil
	}
	http, err := t.http()
	if err != nil {
		return err
	}
	http.add(newDirective("access_log", "off"))
	return nil
}

// editOpenFiles keeps descriptors of files that are sent often.
func editOpenFiles(t *task) error {
	http, err := t.http()
	if err != nil {
		return err
	}
	if t.args["max"] != "" {
		if _, err := t.number("max", 1, maxFilesOpen/4); err != nil {
			return err
		}
	}
	inactive, valid := t.arg("inactive", "60s"), t.arg("valid", "1s")
	for name, v := range map[string]string{"inactive": inactive, "valid": valid} {
		if d, ok := timeOf(v); !ok || d == 0 || strings.HasSuffix(v, "ms") {
			return fmt.Errorf("%s %q: want a time, as 60s", name, v)
		}
	}
	around := []*directive{http}
	t.holds(around, "open_file_cache", "max="+t.arg("max", "10000"), "inactive="+inactive)
	t.holdsValue(around, "open_file_cache_valid", valid)
	t.weaken(iikanji.Freshness)
	t.says = "keep descriptors of files open, and look again after " + valid
	return nil
}
