package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// HeadsFile is the name of the file of request headers in Options.SamplesDir: a
// JSON [Heads]. It holds cookies and other credentials of the run's clients, so
// that its reader removes it.
const HeadsFile = "heads.json"

// Heads are headers that a run's clients sent, to ask again as these clients.
type Heads struct {
	// Clients are the latest headers of clients that sent a cookie or another
	// header that not every client sent alike, each as lines of name and value.
	Clients [][][2]string `json:"clients"`
	// Varied are the headers that differed between requests: names in lower case,
	// each with some of its values.
	Varied map[string][]string `json:"varied"`
}

// Bounds of what is kept: the clients that are looked at, the requests of each,
// and the values of each header.
const (
	headClients  = 32
	headRequests = 64
	headValues   = 4
)

// framing are headers that describe one request or its connection, or that state
// what the client keeps already.
var framing = []string{"host", "content-length", "content-type", "connection", "transfer-encoding", "if-none-match", "if-modified-since"}

// A headSampler keeps headers of the first clients of a run. A nil sampler keeps
// none. The clients after headClients cost one comparison for each request.
type headSampler struct {
	path string

	mu     sync.Mutex
	seen   [headClients + 1]int
	latest [headClients + 1][][2]string
	values map[string][]string
	counts map[string]int // requests with the header
	total  int
}

func newHeadSampler(dir string) *headSampler {
	if dir == "" {
		return nil
	}
	return &headSampler{path: filepath.Join(dir, HeadsFile), values: map[string][]string{}, counts: map[string]int{}}
}

// add looks at the header of a request of a client.
func (h *headSampler) add(id uint32, req []byte) {
	if h == nil || id > headClients {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen[id]++; h.seen[id] > headRequests {
		return
	}
	head, _, _ := bytes.Cut(req, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	h.total++
	h.latest[id] = nil
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		lower := strings.ToLower(name)
		if !ok || slices.Contains(framing, lower) {
			continue
		}
		h.latest[id] = append(h.latest[id], [2]string{textproto.CanonicalMIMEHeaderKey(name), value})
		h.counts[lower]++
		if known := h.values[lower]; len(known) < headValues && !slices.Contains(known, value) {
			h.values[lower] = append(known, value)
		}
	}
}

// close writes what was kept, for the owner only.
func (h *headSampler) close() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	out := Heads{Varied: map[string][]string{}}
	for name, values := range h.values {
		if len(values) > 1 || h.counts[name] < h.total {
			out.Varied[name] = values
		}
	}
	for _, fields := range h.latest {
		own := slices.ContainsFunc(fields, func(f [2]string) bool { return out.Varied[strings.ToLower(f[0])] != nil })
		if own && !slices.ContainsFunc(out.Clients, func(c [][2]string) bool { return slices.Equal(c, fields) }) {
			out.Clients = append(out.Clients, fields)
		}
	}
	text, err := json.Marshal(out)
	if err == nil {
		err = os.WriteFile(h.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the headers of requests: %w", err)
	}
	return nil
}
