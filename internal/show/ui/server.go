package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/show/otlp"
)

// Options are what a Server needs.
type Options struct {
	Target  string // name of the target
	History string // folder of the history
	// Program and Place run actions: the program, and the flags that every command
	// needs to find the target's folders. Without a Program there are no actions.
	Program string
	Place   []string
	Token   string      // gives the right to actions
	Hosts   []string    // names that the Host header may have, beside loopback ones
	Private bool        // reading needs the token too
	Traces  *otlp.Store // nil without a receiver of traces
	OTLP    string      // address of that receiver, for the page
	Day     *Day        // nil for an arena: there is no page of a team
	Now     func() time.Time
	Log     *slog.Logger
}

// A Server serves the pages of one history.
type Server struct {
	o        Options
	store    *store
	sessions *sessions
	job      *job
	raw      chan struct{} // limits the readers of raw files
	models   modelCache
	closing  chan struct{}
	once     sync.Once
}

// rawReaders limits how many requests read raw files at the same time: each may
// take hundreds of megabytes.
const rawReaders = 2

// New returns a Server. Templates are checked by the package's initialization.
func New(o Options) *Server {
	return &Server{o: o, store: &store{dir: o.History, target: o.Target}, sessions: newSessions(o.Token), job: newJob(o.Program),
		raw: make(chan struct{}, rawReaders), closing: make(chan struct{})}
}

// Handler is the route table behind the guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	// what was measured
	mux.HandleFunc("GET /{$}", s.page(s.showOverview))
	mux.HandleFunc("GET /runs", s.page(s.showRuns))
	mux.HandleFunc("GET /runs/{run}", s.page(s.showRun))
	mux.HandleFunc("GET /runs/{run}/requests", s.page(s.showRequests))
	mux.HandleFunc("GET /runs/{run}/requests/{number}", s.page(s.showRequest))
	mux.HandleFunc("GET /endpoints", s.page(s.showEndpoints))
	// what was found and changed
	mux.HandleFunc("GET /findings", s.page(s.showFindings))
	mux.HandleFunc("GET /changes", s.page(s.showChanges))
	mux.HandleFunc("GET /changes/{change}", s.page(s.showChange))
	// what happens now
	mux.HandleFunc("GET /live", s.page(s.showLive))
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /team", s.page(s.showTeam))
	mux.HandleFunc("GET /team/events", s.machineEvents)
	mux.HandleFunc("GET /traces", s.page(s.showTraces))
	mux.HandleFunc("GET /traces/{trace}", s.page(s.showTrace))
	// actions
	mux.HandleFunc("GET /actions", s.page(s.showActions))
	mux.HandleFunc("POST /session", s.signIn)
	mux.HandleFunc("POST /session/end", s.act(s.signOut))
	mux.HandleFunc("POST /actions/start", s.act(s.start))
	mux.HandleFunc("POST /actions/stop", s.act(s.stop))
	mux.HandleFunc("POST /actions/apply", s.act(s.apply))
	mux.HandleFunc("POST /actions/revert", s.act(s.revert))
	mux.HandleFunc("POST /team/score", s.act(s.giveScore))
	mux.HandleFunc("POST /team/claim", s.act(s.claim))
	// files
	mux.HandleFunc("GET /static/{file}", static)
	mux.HandleFunc("GET /", s.notFound)
	return s.guard(mux)
}

// Serve serves until ctx is done, and stops a child that runs then.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn)}
	stop := context.AfterFunc(ctx, func() {
		s.Close()
		end, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if server.Shutdown(end) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the pages: %w", err)
	}
	s.job.wait()
	return nil
}

// Close ends the live updates and interrupts a child.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closing)
		s.job.interrupt()
	})
}
