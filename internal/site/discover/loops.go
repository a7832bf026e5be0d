package discover

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// shells are the programs that run loops of commands.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"}

// mostScript is the largest script that is read, in bytes.
const mostScript = 64 << 10

var (
	calledURL = regexp.MustCompile(`https?://[A-Za-z0-9.\[\]:_-]+[^\s"'` + "`" + `;|&<>()$]*`)
	callsLoop = regexp.MustCompile(`\b(while|until|for)\b`)
	callsWith = regexp.MustCompile(`\b(curl|wget)\b`)
)

// loops names shell loops that call the site: a job that has no connection to a database and
// listens nowhere, as the matcher of a site. What one call does is all that happens in a round.
func (s *search) loops() {
	for _, pid := range s.pids() {
		p := s.m.Processes[pid]
		if !slices.Contains(shells, filepath.Base(p.Program)) && !slices.Contains(shells, p.Name) || s.within(pid, s.Self) {
			continue
		}
		text, file := s.script(p)
		for _, called := range calledByLoop(text) {
			svc := s.serviceOfURL(called)
			if svc == nil {
				continue
			}
			from := fmt.Sprintf("process %d, %s", pid, cmp.Or(file, p.Name)) // its arguments may have a secret
			if p.Unit != "" {
				from = "unit " + p.Unit
			}
			s.note(svc, "a shell loop calls "+toldURL(called), Sure, "%.120s: what one call does is all that happens in a round, however many wait for it", from)
			break
		}
	}
}

// script is what a shell runs: its arguments and the file that they name, "" for none.
func (s *search) script(p *process.Process) (text, file string) {
	text = strings.Join(p.Args, "\n")
	for _, arg := range p.Args[min(1, len(p.Args)):] {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Dir, path)
		}
		if info, err := s.host.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > mostScript {
			continue
		}
		if b, err := s.host.Read(path); err == nil {
			text, file = text+"\n"+string(b), path
		}
		break
	}
	return text, file
}

// toldURL is a URL as people are told it: without its login and its query, which may be secrets.
func toldURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the site"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// calledByLoop are the URLs that a script with a loop calls by curl or wget.
func calledByLoop(script string) (urls []string) {
	if !callsLoop.MatchString(script) {
		return nil
	}
	for line := range strings.Lines(script) {
		line = strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(line, "#") && callsWith.MatchString(line) {
			urls = append(urls, calledURL.FindAllString(line, -1)...)
		}
	}
	return urls
}

// serviceOfURL is the web server or app of this machine that answers a URL; nil for none.
func (s *search) serviceOfURL(text string) *service {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	svc := s.serviceAt(net.JoinHostPort(u.Hostname(), port))
	if svc == nil && u.Hostname() == "localhost" {
		svc = s.serviceAt(net.JoinHostPort("127.0.0.1", port))
	}
	if svc == nil || svc.Role != iikanji.RoleWeb && svc.Role != iikanji.RoleApp {
		return nil
	}
	return svc
}
