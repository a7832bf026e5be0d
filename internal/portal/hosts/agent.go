package hosts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// An Agent is the part of a portal on a team's machine.
type Agent struct {
	Portal string // its address
	Token  string // of this host
	Log    *slog.Logger
	Now    func() time.Time
	Every  time.Duration // between two beats; 0 for 10 s
	// BootFile has the boot id and SSHDir the host keys; "" for those of Linux and OpenSSH.
	BootFile string
	SSHDir   string
}

const (
	beatEvery  = 10 * time.Second
	callLimit  = 10 * time.Second
	mostNonce  = 128
	mostAnswer = 64 << 10
)

// Run answers checks on a listener and sends beats until ctx ends. It ends with an error where
// the portal refuses the token or the address.
func (a *Agent) Run(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.AgentPath, a.answer)
	server := &http.Server{Handler: mux, ReadTimeout: callLimit, WriteTimeout: callLimit, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer server.Close()
	every := a.Every
	if every == 0 {
		every = beatEvery
	}
	port := 0
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		port = tcp.Port
	}
	last := ""
	for {
		said, err := a.beat(ctx, port)
		if refused := (*refusedError)(nil); errors.As(err, &refused) && refused.final {
			return err
		}
		state := ""
		switch {
		case err != nil:
			state = err.Error()
		case said.Problem != "":
			state = said.Problem
		case said.Proven:
			state = "proven"
		default:
			state = "waiting for a worker to reach this machine"
		}
		if state != last && ctx.Err() == nil {
			a.Log.Info("host", "state", state)
			last = state
		}
		timer := time.NewTimer(every)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case err := <-served:
			timer.Stop()
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("answering checks: %w", err)
		case <-timer.C:
		}
	}
}

// A refusedError is an answer of the portal that is no success.
type refusedError struct {
	text  string
	final bool // another try has the same answer
}

func (e *refusedError) Error() string { return e.text }

// Beat is what this machine tells the portal.
func (a *Agent) Beat(port int) (api.HostBeat, error) {
	facts, err := ReadFacts(a.Now())
	if err != nil {
		return api.HostBeat{}, err
	}
	boot, err := a.boot()
	if err != nil {
		return api.HostBeat{}, err
	}
	dir := a.SSHDir
	if dir == "" {
		dir = "/etc/ssh"
	}
	return api.HostBeat{Token: a.Token, Port: port, Boot: boot, Keys: sshKeys(dir), Facts: facts}, nil
}

func (a *Agent) boot() (string, error) {
	path := a.BootFile
	if path == "" {
		path = "/proc/sys/kernel/random/boot_id"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// beat sends one beat.
func (a *Agent) beat(ctx context.Context, port int) (*api.HostBeatAnswer, error) {
	b, err := a.Beat(port)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("calling the portal: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(a.Portal, "/")+"/api/v1/host/beat", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("calling the portal: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("calling the portal: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("calling the portal: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		var p struct{ Detail string }
		if json.Unmarshal(text, &p) != nil || p.Detail == "" {
			p.Detail = res.Status
		}
		return nil, &refusedError{"the portal refused this machine: " + p.Detail, res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusConflict}
	}
	said := &api.HostBeatAnswer{}
	if err := json.Unmarshal(text, said); err != nil {
		return nil, fmt.Errorf("reading the portal's answer: %w", err)
	}
	return said, nil
}

// answer answers a check: who has the token can compute it, and nobody can learn the token
// from it.
func (a *Agent) answer(w http.ResponseWriter, r *http.Request) {
	nonce := r.URL.Query().Get("nonce")
	if nonce == "" || len(nonce) > mostNonce {
		http.Error(w, "want a nonce", http.StatusBadRequest)
		return
	}
	boot, err := a.boot()
	if err != nil {
		http.Error(w, "the boot id cannot be read", http.StatusInternalServerError)
		return
	}
	key := sha256.Sum256([]byte(a.Token))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"answer": api.HostAnswer(hex.EncodeToString(key[:]), nonce), "boot": boot, "now": a.Now().UTC()}) // the caller may be gone
}
