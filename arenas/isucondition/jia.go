package isucondition

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// activationTime is how long JIA takes to answer.
const activationTime = 50 * time.Millisecond

// contestHosts are the names that the contest's machines had; the i-th stands
// for the i-th address.
var contestHosts = []string{"isucondition-1.t.isucon.dev", "isucondition-2.t.isucon.dev", "isucondition-3.t.isucon.dev"}

// A jia is the association that activates ISU, as the target sees it.
type jia struct {
	url      string   // as told to the target
	hosts    []string // allowed, host:port
	machines []string // what contestHosts stand for
	find     func(uuid string) *chair
	activate func(c *chair, target *url.URL) // called once per chair

	listener net.Listener
	server   *http.Server
	mu       sync.Mutex
	known    map[*chair]bool
	denied   string // the first target that was refused, for a hint
}

// newJIA knows the hosts that the target may name: that of its URL, and addresses.
func newJIA(target string, addresses []string) (*jia, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("reading the target's URL: %w", err)
	}
	j := &jia{known: map[*chair]bool{}, hosts: []string{hostPort(u)}}
	for _, a := range addresses {
		host := hostPort(&url.URL{Scheme: u.Scheme, Host: a})
		j.machines = append(j.machines, host)
		if !slices.Contains(j.hosts, host) {
			j.hosts = append(j.hosts, host)
		}
	}
	if len(j.machines) == 0 {
		j.machines = j.hosts
	}
	return j, nil
}

// hostPort is the host of a URL with its port, in lower case.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		if port == "" {
			port = "80"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// listen opens an address, which gives the URL to tell. own is how the target
// reaches it; empty means by that address.
func (j *jia) listen(address, own string) (err error) {
	if address == "" {
		address = jiaAddress
	}
	if j.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("serving JIA: %w", err)
	}
	if j.url = strings.TrimSuffix(own, "/"); j.url == "" {
		j.url = "http://" + j.listener.Addr().String()
	}
	return nil
}

// serve answers until close. Who came before has waited.
func (j *jia) serve() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/activate", j.answer)
	j.server = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go j.server.Serve(j.listener) // ends with close
}

// close ends the service and its connections.
func (j *jia) close() {
	if j.server != nil {
		j.server.Close()
	} else if j.listener != nil {
		j.listener.Close()
	}
}

// answer is POST /api/activate.
func (j *jia) answer(w http.ResponseWriter, r *http.Request) {
	if !pause(r.Context(), activationTime) {
		return
	}
	var asked struct {
		Target string `json:"target_base_url"`
		UUID   string `json:"isu_uuid"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &asked) != nil {
		refuse(w, http.StatusBadRequest, "Bad Request")
		return
	}
	target, err := j.target(asked.Target)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	c := j.find(asked.UUID)
	if c == nil {
		refuse(w, http.StatusNotFound, "Bad isu_uuid")
		return
	}
	if j.first(c) {
		j.activate(c, target)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusAccepted)
	json.NewEncoder(w).Encode(map[string]string{"character": Labels[c.character]}) // a target that is gone needs no answer
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// first says whether a chair was never activated before.
func (j *jia) first(c *chair) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := j.known[c]
	j.known[c] = true
	return !known
}

// target reads a target_base_url and maps the contest's host names. Only the
// hosts known are allowed: an ISU must not be made to post to strangers.
func (j *jia) target(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("bad target_base_url %.100q", text)
	}
	host := hostPort(u)
	if i := slices.Index(contestHosts, u.Hostname()); i >= 0 {
		host = j.machines[min(i, len(j.machines)-1)]
	} else if !slices.Contains(j.hosts, host) {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.denied == "" {
			j.denied = text
		}
		return nil, fmt.Errorf("bad target_base_url: %s is none of the target's hosts (%s)", host, strings.Join(j.hosts, ", "))
	}
	return &url.URL{Scheme: u.Scheme, Host: host, Path: strings.TrimSuffix(u.Path, "/")}, nil
}

// hint explains why ISU could not be activated, if it is known.
func (j *jia) hint() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.denied == "" {
		return ""
	}
	return fmt.Sprintf("JIA refused target_base_url %s: allowed hosts are %s", j.denied, strings.Join(j.hosts, ", "))
}

// pause waits; false means that ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
