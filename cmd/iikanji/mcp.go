package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

type mcpCmd struct {
	Target   string `arg:"" help:"Target that the client may work on, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Literals bool   `help:"Show literals of statements, and what may be a secret; by default they are redacted."`
	placeFlags
}

// Help returns the long help of the command.
func (mcpCmd) Help() string {
	return `Serves the Model Context Protocol on standard input and output, for programs that
use language models: observe, diagnose, plan, apply, judge, revert and history as
tools for one target. A model may propose changes; only interleaved runs keep
them, through the same checks as iikanji tune. A change of the tool apply is not
kept: the next judge or tune undoes it.

Literals of statements and what may be a secret are redacted in every answer: they
would leave the machine. The client may read and observe. It may change the target only if the target's
policy permits that (policy.agents = "change"); the practice arenas do.

Examples:
  iikanji mcp isucondition
  claude mcp add iikanji -- iikanji mcp isucondition

Exit status: 0 the client left, 1 failed to run, 2 usage.`
}

// Run serves one client until it closes standard input.
func (c *mcpCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	s := &mcpServer{env: e, target: a, place: c.placeFlags, literals: c.Literals, mayChange: a.policy().AgentsChange}
	err = s.server().Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(e.Stdin), Writer: nopWriteCloser{e.Stdout}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("serving the client: %w", err)
	}
	return nil
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// An mcpServer answers the tool calls of one client. A tool runs the command of
// its name in this process, so the same checks apply.
type mcpServer struct {
	env       *env
	target    *namedTarget
	place     placeFlags
	mayChange bool
	literals  bool       // answers keep what may be a secret
	busy      sync.Mutex // held while a command runs: only one can have the target
}

func (s *mcpServer) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "iikanji", Title: "iikanji: makes a web stack fast, and proves it", Version: versionOf().Version},
		&mcp.ServerOptions{Instructions: s.instructions(), Capabilities: &mcp.ServerCapabilities{}})
	s.addTools(server)
	return server
}

func (s *mcpServer) instructions() string {
	text := "Tools for the web stack " + s.target.Name + ". One turn: observe makes a run under load and diagnose lists the causes of slowness with remedies; " +
		"plan shows the diff of a remedy without applying it; "
	if s.mayChange {
		return text + "judge tries one remedy in interleaved runs and keeps it only if they prove a gain; apply makes a change that is not kept; history lists all changes with their verdicts."
	}
	return text + "history lists all changes with their verdicts. The target's policy does not permit changes through this connection."
}

// errReadOnly is the answer to tools that change a target whose policy does not
// permit it.
var errReadOnly = errors.New("the target's policy does not permit agents to change it (policy.agents): plan shows the change; a person can apply it")

// change refuses a call if the policy does not permit changes.
func (s *mcpServer) change() error {
	if !s.mayChange {
		return errReadOnly
	}
	return nil
}

// A runner is a command.
type runner interface {
	Run(ctx context.Context, e *env) error
}

// run runs a command for a request and decodes its JSON output into answer.
// stdin is what the command reads. Progress lines become notifications.
func (s *mcpServer) run(ctx context.Context, req *mcp.CallToolRequest, c runner, stdin string, answer any) error {
	if !s.busy.TryLock() {
		return errors.New("another tool call is running: the target can be used by one at a time")
	}
	defer s.busy.Unlock()
	var out bytes.Buffer
	e := *s.env
	e.Stdin, e.Stdout, e.Stderr, e.TTY, e.Color = strings.NewReader(stdin), &out, &notifier{ctx: ctx, req: req, literals: s.literals}, false, false
	if err := c.Run(ctx, &e); err != nil {
		return withHints(err)
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return fmt.Errorf("reading the output of the command: %w", err)
	}
	return nil
}

// withHints adds the hints of an error to its text: a client has no other place
// for them.
func withHints(err error) error {
	var text strings.Builder
	if status := explain(&text, err); status == exitDone {
		return nil
	}
	return errors.New(report.Clean(strings.TrimPrefix(strings.TrimSpace(text.String()), "iikanji: ")))
}

// A notifier sends each line that is written to it as a progress notification,
// if the request has a token for these.
type notifier struct {
	ctx      context.Context
	req      *mcp.CallToolRequest
	literals bool
	mu       sync.Mutex
	rest     []byte
	sent     float64
}

func (n *notifier) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rest = append(n.rest, p...)
	for {
		line, rest, ok := bytes.Cut(n.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		n.rest = rest
		n.send(string(line))
	}
}

func (n *notifier) send(line string) {
	token := n.req.Params.GetProgressToken()
	if line = strings.TrimSpace(line); token == nil || line == "" {
		return
	}
	n.sent++
	if !n.literals {
		line = redact.Prose(line)
	}
	// A client that is gone ends the request through its context.
	_ = n.req.Session.NotifyProgress(n.ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n.sent, Message: report.Clean(line)})
}
