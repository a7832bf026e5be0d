package export

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// The fixed parts of the scripts; what is done to which place is put where
// the line "#STEPS" stands, what is done to the database at "#STATEMENTS".
var (
	//go:embed apply.sh
	applyText string
	//go:embed undo.sh
	undoText string
)

// A script is what the two scripts are about.
type script struct {
	*Options
	items   []Item
	steps   []step
	notices []string
}

// apply is apply.sh.
func (s *script) apply() string {
	return s.fill(applyText, map[string]string{"SHOW": s.show(), "WANTS": s.wants(), "EXPAND": s.expand(), "STEPS": s.stepLines(),
		"STATEMENTS": s.statementLines(s.items), "NOTICES": s.noticeLines()})
}

// undo is undo.sh. It learns from the backup where the files are.
func (s *script) undo() string {
	back := slices.Clone(s.items)
	slices.Reverse(back)
	db := ""
	if s.database() {
		db = want(client)
	}
	return s.fill(undoText, map[string]string{"WANTS": db, "STATEMENTS": s.statementLines(back), "NOTICES": s.noticeLines()})
}

// fill replaces each line "#NAME" by the text of that name.
func (s *script) fill(text string, parts map[string]string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		part, ok := parts[strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "#")]
		if !ok || line[0] != '#' {
			part = line
		}
		b.WriteString(part)
	}
	return b.String()
}

// show lists in plain words what will be done, as lines of a here-document:
// each begins with two blanks, so that none can end it.
func (s *script) show() string {
	var b strings.Builder
	b.WriteString("  changes:\n")
	for _, it := range s.items {
		fmt.Fprintf(&b, "    %d  %s  %s\n", it.Change.ID, oneLine(it.Change.Says), Effect(it.Verdict))
	}
	for _, x := range s.steps {
		p, rest := s.placeOf(x.rel)
		to := "$" + p.Var
		if rest != "" {
			to += "/" + oneLine(rest)
		}
		fmt.Fprintf(&b, "  %-6s  %s\n", x.how, to)
	}
	for _, it := range s.items {
		for _, body := range statements(it.Change.Do) {
			fmt.Fprintf(&b, "  sql     %s\n", oneLine(body))
		}
	}
	return b.String()
}

// client is how the scripts reach the database.
var client = Place{Var: "DB_CLIENT", Says: "command that runs SQL from its input and may alter tables and set variables, as: mariadb --user=root"}

func (s *script) database() bool {
	return slices.ContainsFunc(s.items, func(it Item) bool { return len(statements(it.Change.Do)) > 0 })
}

// wants asks for each variable that a step or a token needs.
func (s *script) wants() string {
	var texts []string
	var need []Place
	add := func(p Place) {
		if !slices.Contains(need, p) {
			need = append(need, p)
		}
	}
	for _, x := range s.steps {
		p, _ := s.placeOf(x.rel)
		add(p)
		texts = append(texts, x.added())
	}
	for _, p := range s.used(texts) {
		add(p)
	}
	if s.database() {
		add(client)
	}
	var b strings.Builder
	for _, p := range need {
		b.WriteString(want(p))
	}
	return b.String()
}

func want(p Place) string { return fmt.Sprintf("want %s %s\n", p.Var, quote(p.Says)) }

// expand are the replacements of sed for the tokens in portable files. One that
// stands only in lines around a change need not be set: patch looks past them.
func (s *script) expand() string {
	var texts []string
	for _, x := range s.steps {
		texts = append(texts, x.text)
	}
	var b strings.Builder
	for _, p := range s.used(texts) {
		fmt.Fprintf(&b, "\t[ -z \"${%[2]s-}\" ] || set -- \"$@\" -e \"s|%[1]s|$(escape \"$%[2]s\")|g\"\n", p.token(), p.Var)
	}
	return b.String()
}

// stepLines call the function "file" for each file: number, how, target, source.
func (s *script) stepLines() string {
	var b strings.Builder
	for i, x := range s.steps {
		p, rest := s.placeOf(x.rel)
		target := `"$` + p.Var + `"`
		if rest != "" {
			target += quote("/" + rest)
		}
		fmt.Fprintf(&b, "\t\"$1\" %d %s %s %s\n", i+1, x.how, target, quote(x.from))
	}
	if b.Len() == 0 {
		return "\t:\n"
	}
	return b.String()
}

// statementLines call the function "sql" for each change that has statements.
func (s *script) statementLines(items []Item) string {
	var b strings.Builder
	for _, it := range items {
		if len(statements(it.Change.Do)) > 0 {
			fmt.Fprintf(&b, "sql %s\n", sqlName(it.Change))
		}
	}
	return b.String()
}

// noticeLines say what must be restarted.
func (s *script) noticeLines() string {
	var b strings.Builder
	for _, n := range s.notices {
		fmt.Fprintf(&b, "echo %s\n", quote("  "+oneLine(n)))
	}
	if slices.ContainsFunc(s.items, func(it Item) bool { return it.Change.Risk == iikanji.RiskData }) {
		fmt.Fprintf(&b, "echo %s\n", quote("  one of the changes may lose data: see README.md"))
	}
	return b.String()
}

// quote makes one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
