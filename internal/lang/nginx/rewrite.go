package nginx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An ending is how the rewrites of a block end.
type ending int

const (
	goesOn  ending = iota
	stops          // break, or a rewrite with a flag
	answers        // nginx answers by itself
)

// rewrites follows set, if, return, rewrite and break of a server or a location, in
// their order. done reports that the request is answered.
func (r *requestRun) rewrites(d *Directive, inLocation bool) (done bool, err error) {
	how, err := r.rewriteBlock(d, inLocation)
	return how == answers, err
}

func (r *requestRun) rewriteBlock(block *Directive, inLocation bool) (how ending, err error) {
	r.server.Config.each(block.Block, func(_ *Block, d *Directive) {
		if how == goesOn && err == nil {
			how, err = r.rewrite(d, inLocation)
		}
	})
	return how, err
}

func (r *requestRun) rewrite(d *Directive, inLocation bool) (ending, error) {
	switch d.Name() {
	case "set":
		r.set(d)
	case "break":
		r.moved = false
		return stops, nil
	case "return":
		return answers, r.returns(d)
	case "rewrite":
		return r.rewritesPath(d)
	case "if":
		met, err := r.meets(d)
		if err != nil || !met {
			return goesOn, err
		}
		if inLocation {
			around := r.Chain
			for withinLocation(around[len(around)-1]) {
				around = around[:len(around)-1]
			}
			r.Scope = Scope{r.Config, around}.In(d)
		}
		return r.rewriteBlock(d, inLocation)
	}
	return goesOn, nil
}

func (r *requestRun) set(d *Directive) {
	text, known := r.expand(d.Arg(1))
	name := strings.TrimPrefix(d.Arg(0), "$")
	if name == "args" {
		r.args = text
	}
	r.vars[name] = value{text, known}
}

// returns is a return: a status, with a text or an address; or an address alone, for
// a redirect with status 302.
func (r *requestRun) returns(d *Directive) error {
	status, err := strconv.Atoi(d.Arg(0))
	text := d.Arg(1)
	if err == nil && len(d.Words) == 2 && status >= 300 { // without a text, an error_page may answer
		r.By, r.Status = d, status
		return nil
	}
	if err != nil {
		status, text = 302, d.Arg(0)
	}
	text, _ = r.expand(text)
	return r.end(d, status, text)
}

// rewritesPath is a rewrite: it changes the path, or redirects.
func (r *requestRun) rewritesPath(d *Directive) (ending, error) {
	m, err := matchExpression(d.Arg(0), r.Path, false)
	if err != nil {
		return goesOn, &Undecided{fmt.Sprintf("cannot tell whether the rewrite applies to %s: %v", r.Path, err), d}
	}
	if m == nil {
		return goesOn, nil
	}
	r.capture(m)
	to, flag := d.Arg(1), d.Arg(2)
	template, dropsArgs := strings.CutSuffix(to, "?")
	if status := redirectStatus(to, flag); status > 0 {
		text, known := r.expand(template)
		if known && !dropsArgs {
			text = r.withArgs(text, strings.Contains(template, "?"))
		}
		return answers, r.end(d, status, text)
	}
	path, args, hasArgs := strings.Cut(template, "?")
	path, known := r.expand(path)
	args, known2 := r.expand(args)
	if !known || !known2 {
		return goesOn, &Undecided{fmt.Sprintf("the path %s has variables that are not known", to), d}
	}
	if path == "" {
		return answers, r.end(d, 500, "")
	}
	switch {
	case hasArgs && !dropsArgs && r.args != "":
		r.args = args + "&" + r.args
	case hasArgs:
		r.args = args
	case dropsArgs:
		r.args = ""
	}
	r.Path, r.internal = path, true
	r.moved = flag != "break"
	if flag == "" {
		return goesOn, nil
	}
	return stops, nil
}

// withArgs is the address of a redirect with the query of the request.
func (r *requestRun) withArgs(address string, hasArgs bool) string {
	switch {
	case r.args == "":
		return address
	case hasArgs:
		return address + "&" + r.args
	}
	return address + "?" + r.args
}

// redirectStatus is the status of a rewrite that redirects; 0 for another.
func redirectStatus(to, flag string) int {
	switch {
	case flag == "permanent":
		return 301
	case flag == "redirect",
		strings.HasPrefix(to, "http://"), strings.HasPrefix(to, "https://"), strings.HasPrefix(to, "$scheme"):
		return 302
	}
	return 0
}

// meets reports whether the condition of an "if" is met. One that is not known is
// taken as not met.
func (r *requestRun) meets(d *Directive) (bool, error) {
	words := d.Args()
	if len(words) == 0 {
		return false, nil
	}
	words[0] = strings.TrimPrefix(words[0], "(")
	words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ")")
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return false, nil
	}
	if test, negated := strings.CutPrefix(words[0], "!"); len(words) > 1 && strings.HasPrefix(test, "-") {
		r.Files = append(r.Files, d)
		return negated, nil
	}
	left, known := r.expand(words[0])
	if !known {
		r.Assumed = append(r.Assumed, d)
		return false, nil
	}
	if len(words) == 1 {
		return left != "" && left != "0", nil
	}
	return r.compares(d, left, words[1], strings.Join(words[2:], " "))
}

// compares is a condition with an operator.
func (r *requestRun) compares(d *Directive, left, operator, right string) (bool, error) {
	switch operator {
	case "=", "!=":
		right, known := r.expand(right)
		if !known {
			r.Assumed = append(r.Assumed, d)
			return false, nil
		}
		return (left == right) == (operator == "="), nil
	case "~", "~*", "!~", "!~*":
		m, err := matchExpression(right, left, strings.HasSuffix(operator, "*"))
		if err != nil {
			return false, &Undecided{fmt.Sprintf("cannot tell whether the condition is met: %v", err), d}
		}
		if m != nil {
			r.capture(m)
		}
		return (m != nil) == (operator[0] == '~'), nil
	}
	return false, &Undecided{"the condition cannot be read", d}
}
