package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/observe"
)

type planCmd struct {
	Target string   `arg:"" help:"Target to plan for, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Codes  []string `arg:"" optional:"" help:"Plan only for these findings or remedies, as in DB101 or DB101.2; or plan what you type: a kind of change, its act, and its arguments as NAME=VALUE."`

	Of   int      `name:"run" help:"Take the findings of this observed run (default: the latest)." placeholder:"N"`
	Kind []string `help:"Plan only changes of this kind." placeholder:"KIND"`
	File string   `help:"Plan the remedies of this JSON file instead; - is standard input." placeholder:"FILE"`
	Full bool     `help:"Show new files whole, and a diff again that an earlier remedy has."`
	JSON bool     `help:"Print one JSON document."`
	placeFlags
}

// Help returns the long help of the command.
func (planCmd) Help() string {
	return `Plans the remedies of the findings of iikanji diagnose. For each remedy it shows
the diff of files, statements and restarts, the risk and the promises that it
weakens, or the reason why it cannot be planned. Of a long new file it shows the name
and the size, and of a diff that was shown already the remedy that has it, unless
--full asks for all. The target is brought up, read, and taken down again. Nothing is
changed.

A file of remedies is a JSON list of objects like
  {"kind": "ddl", "target": "database", "says": "find posts by user",
   "args": {"act": "add index", "schema": "app", "table": "posts",
            "columns": "user_id, created_at DESC"}}

Examples:
  iikanji plan isucondition
  iikanji plan isucondition DB101 WEB102
  iikanji plan isucondition --run 7 --kind nginxconf
  iikanji plan isucondition --file remedies.json --json
  iikanji plan . mysqlconf target=database max_connections=300
  iikanji plan . topology move service=mariadb to=db

Exit status: 0 done (also when nothing could be planned), 1 failed to run,
2 usage.`
}

// Run runs the command.
func (c *planCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if c.File != "" && (len(c.Codes) > 0 || c.Of != 0) {
		return usageError("--file excludes codes and --run: the file has the remedies")
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	o, err := c.options(e, hist, a.Name)
	if err != nil {
		return err
	}
	if h, err := history.View(hist); err == nil { // with --file a history is not needed
		err = refuseHalfDoneOrAway(h, a, c.placeFlags)
		if err := errors.Join(err, h.Close()); err != nil {
			return err
		}
	}
	if typed, err := typedRemedy(c.Codes); err != nil {
		return err
	} else if typed == nil {
		o = o.only(c.Codes, c.Kind)
	}
	if len(o.Plans) == 0 {
		return hinted(errors.New("no remedy matches the command line"), fmt.Sprintf("iikanji diagnose %s shows the findings", a.Name))
	}
	err = withLiveTarget(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		return o.plan(ctx, w.Site())
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, o)
	}
	return o.write(e, a.Name, c.Full)
}

// options returns the remedies of the file or of the run that the flags name.
func (c *planCmd) options(e *env, hist, arena string) (*remedyList, error) {
	if c.File != "" {
		return readRemedies(e.Stdin, c.File)
	}
	if typed, err := typedRemedy(c.Codes); typed != nil || err != nil {
		return typed, err
	}
	return remediesOf(hist, iikanji.RunID(c.Of), arena)
}

// typedRemedy reads a remedy from words of the command line: a kind of change, its act, and
// arguments as NAME=VALUE. The target of the change is the argument target, or else the argument
// service. The result is nil if the first word does not name a kind of change.
func typedRemedy(words []string) (*remedyList, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if _, ok := change.Lookup(words[0]); !ok {
		return nil, nil
	}
	r := iikanji.Remedy{Kind: words[0], Args: map[string]string{}, Says: strings.Join(words, " ")}
	var act []string
	for _, w := range words[1:] {
		name, value, given := strings.Cut(w, "=")
		switch {
		case !given && len(r.Args) == 0:
			act = append(act, w)
		case !given || name == "":
			return nil, usageError("%q: want NAME=VALUE behind the act of %s", w, words[0])
		default:
			r.Args[name] = value
		}
	}
	if len(act) > 0 {
		r.Args["act"] = strings.Join(act, " ")
	}
	if r.Target = r.Args["target"]; r.Target == "" {
		r.Target = r.Args["service"]
	}
	delete(r.Args, "target")
	return &remedyList{Plans: []plannedRemedy{{Remedy: r}}}, nil
}

// A plannedRemedy is a remedy with its planned change, or with the reason why it cannot be planned.
type plannedRemedy struct {
	// Ref is its name on the command line: the finding's code, and its number
	// among the remedies of this code. Empty for remedies from a file.
	Ref string `json:"ref,omitempty"`
	// Number is its place in a file, from 1; 0 for remedies of findings.
	Number int            `json:"number,omitempty"`
	Where  string         `json:"where,omitempty"`
	Gain   *iikanji.Range `json:"gain_seconds,omitempty"`
	Remedy iikanji.Remedy `json:"remedy"`
	// Change is nil if there is no plan; Why is the reason.
	Change *iikanji.Change `json:"change,omitempty"`
	Diff   string          `json:"diff,omitempty"`
	// Forbidden lists the promises that it weakens although the target's policy forbids that.
	Forbidden []iikanji.Promise `json:"forbidden,omitempty"`
	Doubt     string            `json:"doubt,omitempty"` // a danger to its effect
	Why       string            `json:"why,omitempty"`
	err       error
}

// A remedyList is a list of remedies to choose from.
type remedyList struct {
	Run   iikanji.RunID   `json:"run,omitempty"` // the run with their findings
	Plans []plannedRemedy `json:"plans"`
}

// remediesOf lists the remedies for a run's findings, best first; run 0 is the
// latest that was observed.
func remediesOf(hist string, id iikanji.RunID, arena string) (*remedyList, error) {
	h, err := history.View(hist)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	d, err := recallLatest(h, id)
	if errors.Is(err, fs.ErrNotExist) {
		what := "there is no observed run to take findings from"
		if id != 0 {
			what = fmt.Sprintf("run %d does not exist, or was not observed", id)
		}
		return nil, hinted(errors.New(what), fmt.Sprintf("iikanji diagnose %s makes one", arena))
	}
	if err != nil {
		return nil, err
	}
	o := &remedyList{Run: d.Run.ID}
	number := map[iikanji.Code]int{}
	for i := range d.Findings {
		f := &d.Findings[i]
		for _, r := range f.Remedies {
			number[f.Code]++
			o.Plans = append(o.Plans, plannedRemedy{Ref: refOf(f.Code, number[f.Code]), Where: f.Where, Gain: &f.Gain, Remedy: r})
		}
	}
	return o, nil
}

// refOf is the name of a remedy on the command line.
func refOf(code iikanji.Code, number int) string { return fmt.Sprintf("%s.%d", code, number) }

// recallLatest diagnoses a saved run again: run id, or, for 0, the latest observed
// run. The error is fs.ErrNotExist if there is none.
func recallLatest(h *history.History, id iikanji.RunID) (*diagnose.Diagnosis, error) {
	ids := []iikanji.RunID{id}
	if id == 0 {
		var err error
		if ids, err = h.Runs(); err != nil {
			return nil, err
		}
		slices.Reverse(ids)
	}
	for _, id := range ids {
		ob, known, err := observe.Recall(h, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return diagnose.New(ob, known)
	}
	return nil, fs.ErrNotExist
}

// maxRemedies is the maximum size of a file of remedies, in bytes.
const maxRemedies = 16 << 20

// readRemedies reads one remedy or a list of them.
func readRemedies(stdin io.Reader, file string) (*remedyList, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("reading remedies: %w", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxRemedies+1))
	if err != nil {
		return nil, fmt.Errorf("reading remedies: %w", err)
	}
	if len(b) > maxRemedies {
		return nil, usageError("%s: more than %d MiB of remedies", file, maxRemedies>>20)
	}
	remedies, err := parseRemedies(b)
	if err != nil {
		return nil, &exitError{Status: exitUsage, Err: fmt.Errorf("%s: %w", file, err),
			Hints: []string{`want [{"kind": "…", "target": "…", "says": "…", "args": {"…": "…"}}, …], see iikanji plan --help`}}
	}
	o := &remedyList{}
	for i, r := range remedies {
		o.Plans = append(o.Plans, plannedRemedy{Number: i + 1, Remedy: r})
	}
	return o, nil
}

func parseRemedies(b []byte) ([]iikanji.Remedy, error) {
	strict := func(v any) error {
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			return err
		}
		if _, err := d.Token(); err != io.EOF {
			return errors.New("there is text after the JSON document")
		}
		return nil
	}
	var list []iikanji.Remedy
	if strings.HasPrefix(strings.TrimSpace(string(b)), "{") {
		list = make([]iikanji.Remedy, 1)
		if err := strict(&list[0]); err != nil {
			return nil, err
		}
	} else if err := strict(&list); err != nil {
		return nil, err
	}
	for i, r := range list {
		if r.Kind == "" || r.Target == "" {
			return nil, fmt.Errorf("remedy %d has no kind or no target", i+1)
		}
		if len(r.Proof) > 0 {
			return nil, fmt.Errorf("remedy %d has a proof: only an observed run proves anything", i+1)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the list has no remedy")
	}
	return list, nil
}

// only returns the remedies with these codes (DB101) or references (DB101.2), and
// of these kinds. An empty list matches everything.
func (o *remedyList) only(codes, kinds []string) *remedyList {
	left := &remedyList{Run: o.Run}
	for _, p := range o.Plans {
		if (len(codes) == 0 || slices.ContainsFunc(codes, p.named)) && (len(kinds) == 0 || slices.Contains(kinds, p.Remedy.Kind)) {
			left.Plans = append(left.Plans, p)
		}
	}
	return left
}

// named reports whether code is the code or the reference of this remedy.
func (p *plannedRemedy) named(code string) bool {
	code = strings.ToUpper(code)
	own, _, _ := strings.Cut(p.Ref, ".")
	return code == p.Ref || code == own
}

// code returns the code of the remedy's finding.
func (p *plannedRemedy) code() iikanji.Code {
	code, _, _ := strings.Cut(p.Ref, ".")
	return iikanji.Code(code)
}

// plan plans every remedy. Only the end of ctx is an error: a remedy that cannot be
// planned is part of the result.
func (o *remedyList) plan(ctx context.Context, site *change.Site) error {
	for i := range o.Plans {
		o.Plans[i].plan(ctx, site)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (p *plannedRemedy) plan(ctx context.Context, site *change.Site) {
	if !slices.Contains(change.Names(), p.Remedy.Kind) {
		p.Why = "iikanji has no kind of change for it: it needs manual work"
		return
	}
	c, err := p.lasting(ctx, site)
	if err != nil {
		p.err = err
		if inner := errors.Unwrap(err); inner != nil { // the output already shows kind and target
			err = inner
		}
		p.Why = err.Error()
		return
	}
	c.Answers = p.code()
	p.Change, p.Diff = c, change.Diff(c)
	for _, w := range c.Weakens {
		if !slices.Contains(site.Target.Policy.Allow, w) {
			p.Forbidden = append(p.Forbidden, w)
		}
	}
}

// lasting plans the remedy so that it survives the site's initialize: a change of a
// table is also made in the schema file that creates the table. A remedy with an
// argument "into", even an empty one, is planned as it is.
func (p *plannedRemedy) lasting(ctx context.Context, site *change.Site) (*iikanji.Change, error) {
	_, given := p.Remedy.Args["into"]
	loads := slices.ContainsFunc(slices.Collect(maps.Values(site.Services)), func(s change.Service) bool { return len(s.Loads) > 0 })
	r := change.IntoSchemaFile(p.Remedy)
	if !change.InSchemaFile(r) || given || !loads {
		return change.Plan(ctx, site, p.Remedy)
	}
	c, err := change.Plan(ctx, site, r)
	if err == nil || errors.Is(err, change.ErrNothing) || ctx.Err() != nil {
		return c, err
	}
	c, other := change.Plan(ctx, site, p.Remedy)
	if other == nil {
		p.Doubt = "initialize undoes it if it creates the table again: " + errors.Unwrap(err).Error()
	}
	return c, other
}

// write shows the planned remedies, then the others.
func (o *remedyList) write(e *env, arena string, full bool) error {
	var planned, unplanned []*plannedRemedy
	for i := range o.Plans {
		if o.Plans[i].Change != nil {
			planned = append(planned, &o.Plans[i])
		} else {
			unplanned = append(unplanned, &o.Plans[i])
		}
	}
	out := &output{w: e.Stdout, color: e.Color}
	from := ""
	if o.Run != 0 {
		from = fmt.Sprintf(" for the findings of run %d", o.Run)
	}
	out.line("%d of %s%s can be planned; nothing was changed", len(planned), report.Number(len(o.Plans), "remedy"), from)
	shown := map[string]string{}
	for _, p := range planned {
		out.line("")
		if full {
			p.write(out, p.Diff)
			continue
		}
		first, again := shown[p.Diff]
		if again {
			p.write(out, "# the same change as "+first+"\n")
			continue
		}
		shown[p.Diff] = p.label()
		p.write(out, shortened(p.Diff))
	}
	if len(unplanned) > 0 {
		out.line("\nnot planned:")
		for _, p := range unplanned {
			out.line("  %s %s on %s: %s\n    because: %s", p.label(), p.Remedy.Kind, report.Clean(p.Remedy.Target), report.Clean(p.Remedy.Says), report.Clean(p.Why))
		}
	}
	if len(planned) > 0 && planned[0].Ref != "" {
		out.line("\napply one with: iikanji apply %s %s", arena, planned[0].Ref)
	}
	return out.err
}

// maxNewLines is the number of lines up to which a new file is shown whole.
const maxNewLines = 40

// shortened is a diff with a line in place of each long new file: its name, lines and bytes.
func shortened(text string) string {
	const header = "--- /dev/null\n+++ b"
	var out strings.Builder
	for text != "" {
		i := strings.Index(text, header)
		if i < 0 || i > 0 && text[i-1] != '\n' {
			break
		}
		out.WriteString(text[:i])
		rest := text[i+len(header):]
		end := len(rest)
		for _, next := range []string{"\n--- ", "\n# "} { // the lines of a new file begin with +
			if j := strings.Index(rest, next); j >= 0 {
				end = min(end, j+1)
			}
		}
		name, body, _ := strings.Cut(rest[:end], "\n")
		lines, size := 0, 0
		for line := range strings.Lines(body) {
			if content, added := strings.CutPrefix(line, "+"); added {
				lines, size = lines+1, size+len(content)
			}
		}
		if lines > maxNewLines {
			fmt.Fprintf(&out, "# new file %s: %d lines, %s; --full shows it\n", name, lines, iikanji.Bytes(size))
		} else {
			out.WriteString(text[i : i+len(header)+end])
		}
		text = rest[end:]
	}
	return out.String() + text
}

// write shows a plan: its claim, its risk, its expected gain, the diff.
func (p *plannedRemedy) write(out *output, text string) {
	out.line("%s %s", p.label(), report.Clean(p.Change.Says))
	about := fmt.Sprintf("  %s on %s; risk: %s", p.Change.Kind, report.Clean(p.Change.Target), riskSays[p.Change.Risk])
	if len(p.Change.Weakens) > 0 {
		about += "; weakens: " + inWords(p.Change.Weakens)
	}
	out.line("%s", about)
	if len(p.Forbidden) > 0 {
		out.line("  the target's policy forbids weakening %s: it will not be applied", inWords(p.Forbidden))
	}
	for _, u := range p.Remedy.Unsorted {
		out.line("  rows may come in another order at %s", report.Clean(u))
	}
	if p.Doubt != "" {
		out.line("  doubt: %s", report.Clean(p.Doubt))
	}
	if p.Gain != nil && p.Gain.Hi > 0 {
		out.line("  for %s: %.1f to %.1f s of a run", report.Clean(report.Shorten(p.Where, 50)), p.Gain.Lo, p.Gain.Hi)
	}
	out.diff(text)
}

func (p *plannedRemedy) label() string {
	if p.Ref == "" {
		return fmt.Sprintf("#%d", p.Number)
	}
	return p.Ref
}

var riskSays = map[iikanji.Risk]string{
	iikanji.RiskUnknown: "not known", iikanji.RiskNone: "none", iikanji.RiskReload: "a reload", iikanji.RiskRestart: "a restart",
	iikanji.RiskLock: "tables are locked while it is applied", iikanji.RiskData: "data may be lost",
}

// inWords joins the names of values with commas.
func inWords[T fmt.Stringer](words []T) string {
	var texts []string
	for _, w := range words {
		texts = append(texts, w.String())
	}
	return strings.Join(texts, ", ")
}
