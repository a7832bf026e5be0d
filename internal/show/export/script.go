package export

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// The fixed parts of the scripts. Lines such as "#STEPS" and "#STATEMENTS" are
// replaced by generated text.
var (
	//go:embed apply.sh
	applyText string
	//go:embed undo.sh
	undoText string
)

// A script holds the data of both scripts.
type script struct {
	*Options
	items   []Item
	steps   []step
	notices []notice
}

// apply returns apply.sh.
func (s *script) apply() string {
	return s.fill(applyText, map[string]string{"SHOW": s.show(), "CHANGES": s.changeLines(), "REQUIRED": s.requirements(), "EXPAND": s.expand(), "STEPS": s.stepLines(),
		"CHECK": s.checkLines(), "STATEMENTS": s.statementLines(), "NOTICES": s.noticeLines(true)})
}

// undo returns undo.sh, which takes the paths of files from the backup.
func (s *script) undo() string {
	db := ""
	if len(s.database()) > 0 {
		db = "! begun || " + requirement(client)
	}
	return s.fill(undoText, map[string]string{"REQUIRED": db, "STATEMENTS": s.undoLines(), "NOTICES": s.noticeLines(false)})
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

// show lists what will be done, as lines of a here-document. Each begins with two
// spaces, so that no line can end the document.
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
		for _, st := range statements(it.Change) {
			fmt.Fprintf(&b, "  sql     %s\n", oneLine(st.do))
		}
	}
	return b.String()
}

// client is the variable for the database client.
var client = Place{Var: "DB_CLIENT", Says: "command that runs SQL from standard input and may alter tables and set variables, as: mariadb --user=root"}

// nginx is the variable for the command that checks nginx's configuration. A patch
// may fit its file and still be invalid in the rest of the configuration.
var nginx = Place{Var: "NGINX_CHECK", Says: "command that lets nginx check its configuration, as: nginx -t"}

// database lists the changes with statements.
func (s *script) database() (of []iikanji.ChangeID) {
	for _, it := range s.items {
		if len(statements(it.Change)) > 0 {
			of = append(of, it.Change.ID)
		}
	}
	return of
}

// checked lists the changes of nginx's configuration.
func (s *script) checked() (of []iikanji.ChangeID) {
	for _, it := range s.items {
		if it.Change.Kind == "nginxconf" {
			of = append(of, it.Change.ID)
		}
	}
	return of
}

// changeLines returns the calls that list the changes, and those that list changes
// of the same file, which can only be skipped together.
func (s *script) changeLines() string {
	var all []iikanji.ChangeID
	for _, it := range s.items {
		all = append(all, it.Change.ID)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "changes %s\n", ids(all))
	for _, x := range s.steps {
		if len(x.of) > 1 {
			fmt.Fprintf(&b, "together %s %s\n", ids(x.of), host.Quote(oneLine(x.rel)))
		}
	}
	return b.String()
}

// ids returns changes as one word of a shell: '1 3'.
func ids(of []iikanji.ChangeID) string { return host.Quote(strings.Trim(fmt.Sprint(of), "[]")) }

// unless returns a line that is executed unless all of the changes are skipped.
func unless(of []iikanji.ChangeID, line string) string {
	return "skipped " + ids(of) + " || " + line
}

// requirements returns the check for each variable that a step or a token needs.
func (s *script) requirements() string {
	var need []Place
	of := map[Place][]iikanji.ChangeID{}
	add := func(p Place, by []iikanji.ChangeID) {
		if !slices.Contains(need, p) {
			need = append(need, p)
		}
		for _, id := range by {
			of[p] = with(of[p], id)
		}
	}
	for _, x := range s.steps {
		p, _ := s.placeOf(x.rel)
		add(p, x.of)
	}
	for _, x := range s.steps {
		for _, p := range s.used([]string{x.added()}) {
			add(p, x.of)
		}
	}
	if by := s.database(); len(by) > 0 {
		add(client, by)
	}
	if by := s.checked(); len(by) > 0 {
		add(nginx, by)
	}
	var b strings.Builder
	for _, p := range need {
		if p.Default == "" {
			b.WriteString(unless(of[p], requirement(p)))
		}
	}
	return b.String()
}

func requirement(p Place) string { return fmt.Sprintf("require %s %s\n", p.Var, host.Quote(p.Says)) }

// expand returns the replacements of sed for the tokens in portable files. A
// variable whose token is only in context lines need not be set: patch ignores
// context that differs.
func (s *script) expand() string {
	var texts []string
	for _, x := range s.steps {
		texts = append(texts, x.text)
	}
	var b strings.Builder
	for _, p := range s.used(texts) {
		if p.Default != "" {
			fmt.Fprintf(&b, "\tset -- \"$@\" -e \"s|%s|$(escape \"${%s:-%s}\")|g\"\n", p.token(), p.Var, p.Default)
			continue
		}
		fmt.Fprintf(&b, "\t[ -z \"${%[2]s-}\" ] || set -- \"$@\" -e \"s|%[1]s|$(escape \"$%[2]s\")|g\"\n", p.token(), p.Var)
	}
	return b.String()
}

// stepLines returns a call for each file, with its number, how, target and source.
func (s *script) stepLines() string {
	var b strings.Builder
	for i, x := range s.steps {
		p, rest := s.placeOf(x.rel)
		target := `"$` + p.Var + `"`
		if rest != "" {
			target += host.Quote("/" + rest)
		}
		b.WriteString("\t" + unless(x.of, fmt.Sprintf("\"$1\" %d %s %s %s\n", i+1, x.how, target, host.Quote(x.from))))
	}
	if b.Len() == 0 {
		return "\t:\n"
	}
	return b.String()
}

// checkLines returns the call that lets nginx check the written files.
func (s *script) checkLines() string {
	if of := s.checked(); len(of) > 0 {
		return unless(of, "check\n")
	}
	return ""
}

// statementLines returns a call of the function "sql" for each statement.
func (s *script) statementLines() string {
	var b strings.Builder
	for _, it := range s.items {
		for _, st := range statements(it.Change) {
			b.WriteString(unless([]iikanji.ChangeID{it.Change.ID}, "sql "+st.name+"\n"))
		}
	}
	return b.String()
}

// undoLines returns a call of "sql" for each statement, the last one first.
func (s *script) undoLines() string {
	var lines []string
	for _, it := range s.items {
		for _, st := range statements(it.Change) {
			lines = append(lines, "sql "+st.name+"\n")
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// noticeLines returns the lines that print what must be restarted. With skips (in
// apply.sh) they depend on the skipped changes; undo.sh prints all of them.
func (s *script) noticeLines(skips bool) string {
	var b strings.Builder
	notice := func(of []iikanji.ChangeID, what string) {
		line := "echo " + host.Quote("  "+what) + "\n"
		if skips {
			line = unless(of, line)
		}
		b.WriteString(line)
	}
	for _, n := range s.notices {
		notice(n.of, oneLine(n.text))
	}
	var risky []iikanji.ChangeID
	for _, it := range s.items {
		if it.Change.Risk == iikanji.RiskData {
			risky = append(risky, it.Change.ID)
		}
	}
	if len(risky) > 0 {
		notice(risky, "one of the changes may lose data: see README.md")
	}
	return b.String()
}
