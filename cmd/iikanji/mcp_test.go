package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// client connects to a server.
func client(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// call calls a tool and decodes its answer. It returns the text of an error.
func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any, answer any) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return text
	}
	if answer != nil {
		if err := json.Unmarshal([]byte(text), answer); err != nil {
			t.Fatalf("%s: %v: %s", tool, err, text)
		}
	}
	return ""
}

// TestMCPReadOnly: without the policy's permission no tool changes the target, and
// mistakes are answers with a hint.
func TestMCPReadOnly(t *testing.T) {
	a, err := findTarget("isucondition")
	if err != nil {
		t.Fatal(err)
	}
	e := &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80}
	dir := t.TempDir()
	s := &mcpServer{env: e, target: a, place: placeFlags{Dir: dir}}
	near, far := mcp.NewInMemoryTransports()
	session, err := s.server().Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c := client(t, far)
	defer c.Close()
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names, readOnly []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if tool.Annotations.ReadOnlyHint {
			readOnly = append(readOnly, tool.Name)
		}
	}
	slices.Sort(names)
	slices.Sort(readOnly)
	if got := strings.Join(names, " ") + "; read only: " + strings.Join(readOnly, " "); got != "apply diagnose history judge observe plan revert; read only: diagnose history observe plan" {
		t.Errorf("tools: %s", got)
	}
	for tool, args := range map[string]map[string]any{
		"apply": {"code": "DB101"}, "judge": {"code": "DB101"}, "revert": {"all": true},
	} {
		if text := call(t, c, tool, args, nil); text != errReadOnly.Error() {
			t.Errorf("%s: %q", tool, text)
		}
	}
	for _, m := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"history", nil, "there is no history in"},
		{"diagnose", map[string]any{"run": 3}, "there is no history in"},
		{"observe", map[string]any{"seconds": 1000}, "want 1 to 300"},
		{"plan", map[string]any{"codes": []string{"DB101"}, "remedies": []any{map[string]any{"kind": "ddl", "target": "x", "says": "y"}}}, "not both"},
		{"plan", map[string]any{"nonsense": 1}, "nonsense"},
	} {
		if text := call(t, c, m.tool, m.args, nil); !strings.Contains(text, m.want) {
			t.Errorf("%s %v: %q, want %q", m.tool, m.args, text, m.want)
		}
	}
	if left, err := filepath.Glob(dir + "/*"); err != nil || len(left) > 0 {
		t.Errorf("files were made: %v, %v", left, err)
	}
}

// TestMCPKeepsNothing: a change of the tool apply is in force and is not kept, so that
// export leaves it out; revert undoes it to the byte.
func TestMCPKeepsNothing(t *testing.T) {
	tier.Slow(t)
	a, dir := shop(t)
	target, err := findTarget(a.Name)
	if err != nil {
		t.Fatal(err)
	}
	s := &mcpServer{env: &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80}, target: target, place: placeFlags{Dir: dir}, mayChange: true}
	near, far := mcp.NewInMemoryTransports()
	session, err := s.server().Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c := client(t, far)
	defer c.Close()
	remedy := map[string]any{"kind": "nginxconf", "target": "nginx", "says": "x", "args": oneOfEach()["nginxconf"].Args}
	if text := call(t, c, "plan", map[string]any{"remedies": []any{remedy}}, nil); text != "" {
		t.Fatalf("plan: %s", text)
	}
	before := filesBelow(t, dir) // since the first start at this place
	var made planView
	if text := call(t, c, "apply", map[string]any{"remedy": remedy}, &made); text != "" || made.Change == 0 {
		t.Fatalf("apply: %s %+v", text, made)
	}
	if !differs(filesBelow(t, dir), before) {
		t.Error("nothing was changed")
	}
	var past historyAnswer
	if text := call(t, c, "history", map[string]any{"change": made.Change}, &past); text != "" || len(past.Changes) != 1 || past.Changes[0].Stage != "applied" {
		t.Errorf("history: %s %+v", text, past)
	}
	if _, said := shell(t, exitFailed, "export", "shop", filepath.Join(t.TempDir(), "out"), "--dir", dir); !strings.Contains(said, "no change is kept") {
		t.Errorf("export: %s", said)
	}
	var back revertAnswer
	if text := call(t, c, "revert", map[string]any{"all": true}, &back); text != "" || len(back.Reverted) != 1 {
		t.Errorf("revert: %s %+v", text, back)
	}
	same(t, "reverted", filesBelow(t, dir), before)
}

// agentTurn drives one full turn of an agent on the real binary: observe, diagnose,
// plan, judge, history, revert. The caller compares the state afterwards.
func (tu *tuning) agentTurn() {
	t := tu.t
	cmd := exec.CommandContext(t.Context(), "iikanji", "mcp", "isucondition", "--dir", tu.dir)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", restVariable+"=1200ms", leastLoadVariable+"="+searchLoad.String())
	c := client(t, &mcp.CommandTransport{Command: cmd})
	defer c.Close()
	var seen observeAnswer
	var found diagnoseAnswer
	i := -1
	for try := 0; i < 0 && try < 4; try++ { // on a busy machine a sensor may rightly be red
		seen, found = observeAnswer{}, diagnoseAnswer{}
		if text := call(t, c, "observe", map[string]any{"seconds": watchLoad.Seconds()}, &seen); text != "" {
			t.Fatalf("observe: %s", text)
		}
		if text := call(t, c, "diagnose", map[string]any{"run": seen.Run}, &found); text != "" {
			t.Fatalf("diagnose: %s", text)
		}
		i = slices.IndexFunc(found.Findings, func(f findingView) bool { return f.Code == "DB101" && len(f.Remedies) > 0 })
	}
	if seen.Findings != len(found.Findings) || i < 0 {
		t.Fatalf("observe has %d findings, diagnose %d, and DB101 is at %d", seen.Findings, len(found.Findings), i)
	}
	ref := found.Findings[i].Remedies[0].Ref
	var plans planAnswer
	if text := call(t, c, "plan", map[string]any{"codes": []string{ref}}, &plans); text != "" || len(plans.Plans) != 1 || !strings.Contains(plans.Plans[0].Diff, "ADD KEY") {
		t.Fatalf("plan %s: %s %+v", ref, text, plans)
	}
	var verdict judgeAnswer
	if text := call(t, c, "judge", map[string]any{"code": ref, "seconds": searchLoad.Seconds(), "minutes": 5}, &verdict); text != "" {
		if strings.Contains(text, "no whole answer within") {
			t.Logf("the machine is too slow for the arena: %s", text)
			return
		}
		t.Fatalf("judge %s: %s", ref, text)
	}
	t.Logf("judge %s: %+v", ref, verdict)
	if len(verdict.Changes) == 0 || verdict.Runs == 0 {
		t.Fatalf("the verdict names %v and %d runs", verdict.Changes, verdict.Runs)
	}
	// A disturbed trial applies the candidate anew: only the last change is decided on.
	for i, id := range verdict.Changes {
		var past historyAnswer
		if text := call(t, c, "history", map[string]any{"change": id}, &past); text != "" || len(past.Changes) != 1 {
			t.Fatalf("history: %s", text)
		}
		want := verdict.Result == "keep" && i == len(verdict.Changes)-1
		if kept := past.Changes[0].Stage == "kept"; kept != want {
			t.Errorf("the verdict is %s and change %d of %v is %s", verdict.Result, id, verdict.Changes, past.Changes[0].Stage)
		}
	}
	var back revertAnswer
	if text := call(t, c, "revert", map[string]any{"all": true}, &back); text != "" {
		t.Fatalf("revert: %s", text)
	}
	if (len(back.Reverted) > 0) != (verdict.Result == "keep") {
		t.Errorf("%d changes were undone after %s", len(back.Reverted), verdict.Result)
	}
}
