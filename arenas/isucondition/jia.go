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

// activationTime is the delay of JIA's answer to an activation.
const activationTime = 50 * time.Millisecond

// contestHosts are the host names of the contest's machines; the i-th name maps to
// the i-th address.
var contestHosts = []string{"isucondition-1.t.isucon.dev", "isucondition-2.t.isucon.dev", "isucondition-3.t.isucon.dev"}

// A jia implements the association that activates ISU, for use by the target.
type jia struct {
	url      string   // sent to the target at initialize
	hosts    []string // allowed, host:port
	machines []string // hosts that contestHosts map to
	find     func(uuid string) *chair
	activate func(c *chair, target *url.URL) // called once per chair

	listener net.Listener
	server   *http.Server
	mu       sync.Mutex
	known    map[*chair]bool
	denied   string // first target that was refused; used in a hint
}

// newJIA allows the target to name these hosts: the host of its URL, and
// addresses.
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

// hostPort returns a URL's host and port, in lower case.
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

// listen opens an address and sets the URL for the target. own is the URL under
// which the target reaches JIA; if empty, the URL is derived from the address.
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

// serve answers requests until close. Connections made before serve wait in the
// listener's queue.
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

// answer handles POST /api/activate.
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
	json.NewEncoder(w).Encode(map[string]string{"character": Labels[c.character]}) // an error means that the target closed the connection
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// first reports whether this is the first activation of a chair.
func (j *jia) first(c *chair) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := j.known[c]
	j.known[c] = true
	return !known
}

// target reads a target_base_url and maps the contest's host names. Only known
// hosts are allowed, so that ISU cannot be made to post to other hosts.
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

// hint explains why ISU could not be activated, if the reason is known.
func (j *jia) hint() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.denied == "" {
		return ""
	}
	return fmt.Sprintf("JIA refused target_base_url %s: allowed hosts are %s", j.denied, strings.Join(j.hosts, ", "))
}

// pause waits for d. It returns false if ctx ended first.
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
