package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// Arguments of the tools.
type (
	observeArgs struct {
		Seconds float64 `json:"seconds,omitempty" jsonschema:"length of the load in seconds, 1 to 300 (default 20)"`
	}
	diagnoseArgs struct {
		Run  int    `json:"run,omitempty" jsonschema:"number of an observed run (default: the latest)"`
		Code string `json:"code,omitempty" jsonschema:"only findings with this code, as in DB101"`
	}
	planArgs struct {
		Codes    []string         `json:"codes,omitempty" jsonschema:"findings or remedies to plan, as in DB101 or DB101.2 (default: all)"`
		Remedies []iikanji.Remedy `json:"remedies,omitempty" jsonschema:"own remedies to plan instead of those of the findings"`
	}
	changeArgs struct {
		Code   string          `json:"code,omitempty" jsonschema:"finding or remedy, as in DB101 or DB101.2"`
		Remedy *iikanji.Remedy `json:"remedy,omitempty" jsonschema:"an own remedy instead of a code"`
	}
	judgeArgs struct {
		changeArgs
		Seconds float64 `json:"seconds,omitempty" jsonschema:"length of the load of a run in seconds, 3 to 300 (default 10)"`
		Minutes int     `json:"minutes,omitempty" jsonschema:"time limit in minutes, 1 to 120 (default 10)"`
	}
	revertArgs struct {
		Change int  `json:"change,omitempty" jsonschema:"number of the change to undo"`
		All    bool `json:"all,omitempty" jsonschema:"undo every change: this restores the original state"`
	}
	historyArgs struct {
		Change int `json:"change,omitempty" jsonschema:"show this change whole, with its diff"`
	}
)

func (s *mcpServer) addTools(server *mcp.Server) {
	yes, no := true, false
	read := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	write := func(destructive bool) *mcp.ToolAnnotations {
		return &mcp.ToolAnnotations{DestructiveHint: &destructive, OpenWorldHint: &no}
	}
	mcp.AddTool(server, &mcp.Tool{Name: "observe", Annotations: read,
		Description: "Loads the target once with all sensors on and saves the run. Returns its number, its score, its sensors and the number of findings. The target's own files are not changed."}, safe(s, s.observe))
	mcp.AddTool(server, &mcp.Tool{Name: "diagnose", Annotations: read,
		Description: "Lists the findings of an observed run, the most expensive first: what is slow, why, its cost in seconds, and remedies."}, safe(s, s.diagnose))
	mcp.AddTool(server, &mcp.Tool{Name: "plan", Annotations: read,
		Description: "Shows what remedies would change: the diff, the risk, the promises that are weakened, or why there is no plan. Applies nothing."}, safe(s, s.plan))
	mcp.AddTool(server, &mcp.Tool{Name: "history", Annotations: read,
		Description: "Lists all changes with stage, verdict and effect, or one change with its diff."}, safe(s, s.history))
	mcp.AddTool(server, &mcp.Tool{Name: "judge", Annotations: write(no),
		Description: "Tries one remedy: interleaved runs with and without it. It is kept only if they prove a gain, and undone to the byte otherwise. Takes minutes."}, safe(s, s.judge))
	mcp.AddTool(server, &mcp.Tool{Name: "apply", Annotations: write(no),
		Description: "Applies one remedy without measuring it, and does not keep it: revert undoes it, and so does the next judge of another remedy. Only judge keeps a change; revert a change before you judge it."}, safe(s, s.apply))
	mcp.AddTool(server, &mcp.Tool{Name: "revert", Annotations: write(yes),
		Description: "Undoes one change, or all, to the byte."}, safe(s, s.revert))
}

// safe redacts the answers and the errors of a tool: they leave the machine.
func safe[In, Out any](s *mcpServer, f mcp.ToolHandlerFor[In, Out]) mcp.ToolHandlerFor[In, Out] {
	if s.literals {
		return f
	}
	return func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		res, out, err := f(ctx, req, in)
		if err != nil {
			text := err.Error()
			redact.Document(&text)
			return res, out, errors.New(text)
		}
		redact.Document(&out)
		return res, out, nil
	}
}

func (s *mcpServer) observe(ctx context.Context, req *mcp.CallToolRequest, a observeArgs) (*mcp.CallToolResult, observeAnswer, error) {
	load, err := seconds(a.Seconds, 1, 20)
	if err != nil {
		return nil, observeAnswer{}, err
	}
	var d diagnose.Diagnosis
	c := &diagnoseCmd{Target: s.target.Name, Load: load, Seed: 1, Pin: "auto", Dir: s.place.Dir, History: s.place.History, JSON: true}
	if err := s.run(ctx, req, c, "", &d); err != nil {
		return nil, observeAnswer{}, err
	}
	return nil, observeAnswerOf(&d), nil
}

func (s *mcpServer) diagnose(_ context.Context, _ *mcp.CallToolRequest, a diagnoseArgs) (*mcp.CallToolResult, diagnoseAnswer, error) {
	h, err := s.view()
	if err != nil {
		return nil, diagnoseAnswer{}, withHints(err)
	}
	defer h.Close()
	d, err := recallLatest(h, iikanji.RunID(a.Run))
	if err != nil {
		return nil, diagnoseAnswer{}, withHints(hinted(err, "the tool observe makes an observed run"))
	}
	return nil, diagnoseAnswerOf(d, a.Code), nil
}

func (s *mcpServer) view() (*history.History, error) {
	_, dir, err := s.place.folders(s.target)
	if err != nil {
		return nil, err
	}
	return history.View(dir)
}

func (s *mcpServer) plan(ctx context.Context, req *mcp.CallToolRequest, a planArgs) (*mcp.CallToolResult, planAnswer, error) {
	c := &planCmd{Target: s.target.Name, Codes: a.Codes, JSON: true, placeFlags: s.place}
	stdin := ""
	if len(a.Remedies) > 0 {
		if len(a.Codes) > 0 {
			return nil, planAnswer{}, usageError("want codes or remedies, not both")
		}
		c.File, stdin = "-", jsonText(a.Remedies)
	}
	var list remedyList
	if err := s.run(ctx, req, c, stdin, &list); err != nil {
		return nil, planAnswer{}, err
	}
	return nil, planAnswerOf(&list), nil
}

func (s *mcpServer) apply(ctx context.Context, req *mcp.CallToolRequest, a changeArgs) (*mcp.CallToolResult, planView, error) {
	if err := s.change(); err != nil {
		return nil, planView{}, err
	}
	c := &applyCmd{Target: s.target.Name, Codes: codeOf(a.Code), Unkept: true, JSON: true, placeFlags: s.place}
	stdin := a.file(&c.File)
	var p plannedRemedy
	if err := s.run(ctx, req, c, stdin, &p); err != nil {
		return nil, planView{}, err
	}
	return nil, planViewOf(&p), nil
}

func (s *mcpServer) judge(ctx context.Context, req *mcp.CallToolRequest, a judgeArgs) (*mcp.CallToolResult, judgeAnswer, error) {
	if err := s.change(); err != nil {
		return nil, judgeAnswer{}, err
	}
	load, err := seconds(a.Seconds, 1, 10)
	if err != nil {
		return nil, judgeAnswer{}, err
	}
	limit := 10 * time.Minute
	if a.Minutes > 0 && a.Minutes <= 120 {
		limit = time.Duration(a.Minutes) * time.Minute
	}
	c := &judgeCmd{Target: s.target.Name, Code: a.Code, Time: limit, Load: load, Seed: 1, Pin: "auto", JSON: true, placeFlags: s.place}
	stdin := a.file(&c.File)
	var attempt search.Attempt
	if err := s.run(ctx, req, c, stdin, &attempt); err != nil {
		return nil, judgeAnswer{}, err
	}
	return nil, judgeAnswerOf(attempt), nil
}

func (s *mcpServer) revert(ctx context.Context, req *mcp.CallToolRequest, a revertArgs) (*mcp.CallToolResult, revertAnswer, error) {
	if err := s.change(); err != nil {
		return nil, revertAnswer{}, err
	}
	c := &revertCmd{Target: s.target.Name, ID: a.Change, All: a.All, JSON: true, placeFlags: s.place}
	var out revertAnswer
	if err := s.run(ctx, req, c, "", &out); err != nil {
		return nil, revertAnswer{}, err
	}
	return nil, out, nil
}

func (s *mcpServer) history(_ context.Context, _ *mcp.CallToolRequest, a historyArgs) (*mcp.CallToolResult, historyAnswer, error) {
	h, err := s.view()
	if err != nil {
		return nil, historyAnswer{}, withHints(err)
	}
	defer h.Close()
	out, err := historyAnswerOf(h, iikanji.ChangeID(a.Change))
	if err != nil {
		return nil, historyAnswer{}, withHints(err)
	}
	return nil, out, nil
}

// file sets the file of a command to standard input if the caller has an own
// remedy, and returns its text.
func (a changeArgs) file(name *string) (stdin string) {
	if a.Remedy == nil {
		return ""
	}
	*name = "-"
	return jsonText(a.Remedy)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error()) // plain structs of strings
	}
	return string(text)
}

// seconds checks a length of load.
func seconds(n, least, otherwise float64) (time.Duration, error) {
	if n == 0 {
		n = otherwise
	}
	if !(n >= least) || n > 300 {
		return 0, usageError("seconds: %g: want %g to 300", n, least)
	}
	return time.Duration(n * float64(time.Second)), nil
}
