package ui

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// actionsPage is the data of the page of actions.
type actionsPage struct {
	Job   jobState
	Wrong bool
	Times []string
}

// showActions shows the forms, or the form for the token.
func (s *Server) showActions(r *http.Request) (*view, error) {
	if s.o.Program == "" {
		return nil, notFound("this server has no actions")
	}
	p := actionsPage{Wrong: r.URL.Query().Get("wrong") != "", Times: searchTimes}
	if s.sessions.of(r) != nil { // the output may quote the site
		p.Job = s.job.state()
	}
	return &view{name: "actions", title: "Actions", here: "/actions", data: p}, nil
}

// searchTimes are the time limits that the form offers.
var searchTimes = []string{"15m", "30m", "1h", "2h"}

// run starts a command of this program and answers with the page of actions.
func (s *Server) run(w http.ResponseWriter, r *http.Request, args ...string) {
	if s.o.Program == "" {
		s.fail(w, r, notFound("this server has no actions"))
		return
	}
	if err := s.job.start(append(args, s.o.Place...)); err != nil {
		s.fail(w, r, &failure{http.StatusConflict, err.Error()})
		return
	}
	s.o.Log.Info("action", "command", args)
	http.Redirect(w, r, "/actions", http.StatusSeeOther)
}

// wrong refuses a form.
func (s *Server) wrong(w http.ResponseWriter, r *http.Request, format string, args ...any) {
	s.fail(w, r, &failure{http.StatusBadRequest, fmt.Sprintf(format, args...)})
}

// start starts tune, bench or diagnose.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	switch command := r.PostFormValue("command"); command {
	case "tune":
		limit := r.PostFormValue("time")
		if !slices.Contains(searchTimes, limit) {
			s.wrong(w, r, "the time limit must be one of %v", searchTimes)
			return
		}
		s.run(w, r, "tune", s.o.Target, "--time", limit)
	case "bench", "diagnose":
		seconds, err := strconv.Atoi(r.PostFormValue("seconds"))
		if err != nil || seconds < 3 || seconds > 600 {
			s.wrong(w, r, "the load must be 3 to 600 seconds")
			return
		}
		s.run(w, r, command, s.o.Target, "--load", (time.Duration(seconds) * time.Second).String())
	default:
		s.wrong(w, r, "%q is not a command that can be started here", command)
	}
}

// stop interrupts the child; a search then undoes its candidate.
func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	if !s.job.interrupt() {
		s.fail(w, r, &failure{http.StatusConflict, "no action runs that was started here"})
		return
	}
	http.Redirect(w, r, "/actions", http.StatusSeeOther)
}

// remedyRef is the reference of a remedy, as in DB101 or DB101.2.
var remedyRef = regexp.MustCompile(`^[A-Z]{2,4}[0-9]{3}(\.[0-9]{1,2})?$`)

// apply applies the remedy of a finding.
func (s *Server) apply(w http.ResponseWriter, r *http.Request) {
	ref := r.PostFormValue("remedy")
	run, err := strconv.Atoi(r.PostFormValue("run"))
	if !remedyRef.MatchString(ref) || err != nil || run < 1 {
		s.wrong(w, r, "want the reference of a remedy and the number of its run")
		return
	}
	s.run(w, r, "apply", s.o.Target, ref, "--run", strconv.Itoa(run))
}

// revert undoes one change.
func (s *Server) revert(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PostFormValue("change"))
	if err != nil || id < 1 {
		s.wrong(w, r, "want the number of a change")
		return
	}
	s.run(w, r, "revert", s.o.Target, strconv.Itoa(id))
}
