package topology

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/ties"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// lead has the front send requests to all instances.
func (s *spread) lead() (*iikanji.Change, error) {
	f, err := s.findFront()
	if err != nil {
		return nil, err
	}
	on, err := s.site.On(f.svc.Host)
	if err != nil {
		return nil, err
	}
	for _, i := range s.away {
		if !i.was.Active {
			return nil, fmt.Errorf("%s does not run on %s: apply step=prepare first", s.svc.Unit, i.name)
		}
		if err := s.answersAlike(on, f, i); err != nil {
			return nil, err
		}
	}
	home := s.homePaths()
	if err := f.keepHome(home); err != nil {
		return nil, err
	}
	weights, err := weightsOf(s.args.Weights)
	if err != nil {
		return nil, err
	}
	var others []member
	var names []string
	for _, i := range s.away {
		others = append(others, member{i.at(s.port), weights[i.name]})
		names = append(names, i.name)
	}
	if err := f.divide(s.args.Balance, weights[s.svc.Host], others); err != nil {
		return nil, err
	}
	says := fmt.Sprintf("divide the requests of %s among %s and %s", s.svc.Name, hostText(s.svc.Host), strings.Join(names, ", "))
	if len(home) > 0 {
		says += fmt.Sprintf("; %s stay on %s", strings.Join(home, ", "), hostText(s.svc.Host))
	}
	f.Weaken(s.weakened()...)
	return s.throughFront(f, says, func(is change.Placed) change.Placed {
		is.Instances = names
		return is
	})
}

// throughFront is the change of a front and of the file that says where the app runs.
func (t *task) throughFront(f *front, says string, elsewhere func(is change.Placed) change.Placed) (*iikanji.Change, error) {
	part, err := f.edited()
	if err != nil {
		return nil, err
	}
	if part == nil {
		return nil, change.ErrNothing
	}
	placement, err := t.placed(elsewhere)
	if err != nil {
		return nil, err
	}
	var last iikanji.Change
	change.FromEdits(&last, iikanji.VerbUnknown, placement...)
	c := &iikanji.Change{Kind: t.kind, Target: t.target, Risk: iikanji.RiskReload, Says: says, Weakens: f.Weakens}
	c.Do = slices.Concat(part.Do, last.Do)
	c.Undo = slices.Concat(part.Undo, last.Undo)
	c.Ground = change.FingerprintOf([]byte(part.Ground + last.Ground))
	for i := range c.Undo {
		if c.Undo[i].Host != f.svc.Host {
			c.Undo[i].After = "-"
		}
	}
	return c, nil
}

func hostText(name string) string {
	if name == "" {
		return "this machine"
	}
	return name
}

// homePaths are the paths whose requests stay on the app's own host.
func (s *spread) homePaths() (out []string) {
	if s.args.By != byPath {
		return nil
	}
	if s.args.Home != "" {
		for path := range strings.SplitSeq(s.args.Home, ",") {
			out = append(out, strings.TrimSpace(path))
		}
		return out
	}
	for _, t := range s.ties {
		if t.Spread() != ties.Pinned {
			continue
		}
		for _, r := range t.Routes {
			if _, path, _ := strings.Cut(r, " "); !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	slices.Sort(out)
	return out
}

// answerWait bounds the comparison of one answer.
const answerWait = 10 * time.Second

// answersAlike refuses an instance that the front's host does not reach, or that answers the
// first page with another status than the app does on its own host.
func (s *spread) answersAlike(on host.Host, f *front, i *instance) error {
	there, err := s.answers(on, i)
	if err != nil {
		return s.unreached(err, f, i)
	}
	for _, address := range f.home {
		if strings.HasPrefix(address, "unix:") {
			continue
		}
		if here, err := s.status(on, address); err == nil {
			if here != there {
				return fmt.Errorf("%s answers / with %d on %s and with %d on %s", s.svc.Name, there, i.name, here, hostText(s.svc.Host))
			}
			return nil
		}
	}
	return nil
}

// startWait bounds the time until an instance that has just been started answers.
const startWait = 20 * time.Second

// answers is the status with which an instance answers the first page; one that does not listen
// yet is asked again.
func (s *spread) answers(on host.Host, i *instance) (status int, err error) {
	for end := time.Now().Add(startWait); ; {
		if status, err = s.status(on, i.at(s.port)); err == nil || time.Now().After(end) {
			return status, err
		}
		if own, e := s.status(i.on, net.JoinHostPort("127.0.0.1", s.port)); e == nil && own > 0 {
			return s.status(on, i.at(s.port)) // it listens, and not for others
		}
		select {
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// unreached says why the front's host does not reach an instance.
func (s *spread) unreached(err error, f *front, i *instance) error {
	at := i.at(s.port)
	if own, e := s.status(i.on, net.JoinHostPort("127.0.0.1", s.port)); e == nil && own > 0 && strings.Contains(err.Error(), "refused") {
		return fmt.Errorf("%s refuses connections: %s listens on 127.0.0.1 only; have it listen on all addresses", at, s.svc.Name)
	}
	c := client{svc: f.svc, on: i.on}
	t := *s.task
	t.address, t.server.port = i.address, s.port
	if on, e := s.site.On(f.svc.Host); e == nil {
		c.on = on
	}
	if e := t.reachable(c); e != nil {
		return e
	}
	return fmt.Errorf("asking %s: %w", at, err)
}

// status is that of the answer to GET / at an address, as a host reaches it.
func (s *spread) status(on host.Host, address string) (int, error) {
	conn, err := on.Dial(s.ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerWait)); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
