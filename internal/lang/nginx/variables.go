package nginx

import (
	"strconv"
	"strings"
)

// A value is that of a variable, as far as it is known.
type value struct {
	text  string
	known bool
}

// capture keeps the groups of a match.
func (r *requestRun) capture(m *captured) {
	r.captured = m
	for name, text := range m.named {
		r.vars[name] = value{text, true}
	}
}

// expand replaces the variables in a text. known is false if one is not known.
func (r *requestRun) expand(text string) (out string, known bool) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "$")
		b.WriteString(before)
		if !ok {
			return b.String(), true
		}
		name, after := variableName(rest)
		v := r.variable(name)
		if !v.known {
			return "", false
		}
		b.WriteString(v.text)
		text = after
	}
}

// variableName splits the text after a "$".
func variableName(text string) (name, rest string) {
	if inside, ok := strings.CutPrefix(text, "{"); ok {
		name, rest, _ = strings.Cut(inside, "}")
		return name, rest
	}
	end := 0
	for end < len(text) {
		c := text[end]
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		end++
		if end == 1 && text[0] >= '1' && text[0] <= '9' {
			break // $1 has one digit
		}
	}
	return text[:end], text[end:]
}

// variable is the value of a variable.
func (r *requestRun) variable(name string) value {
	if n, err := strconv.Atoi(name); err == nil {
		if r.captured == nil || n >= len(r.captured.groups) {
			return value{"", true}
		}
		return value{r.captured.groups[n], true}
	}
	if v, ok := r.vars[name]; ok && name != "args" {
		return v
	}
	if v, ok := r.ofRequest(name); ok {
		return v
	}
	if r.isSet(name) { // not yet
		return value{"", true}
	}
	return value{}
}

// ofRequest are nginx's own variables.
func (r *requestRun) ofRequest(name string) (value, bool) {
	is := func(text string) (value, bool) { return value{text, true}, true }
	switch name {
	case "uri", "document_uri":
		return is(r.Path)
	case "request_uri":
		return is(r.request.URI)
	case "args", "query_string":
		return is(r.args)
	case "is_args":
		if r.args != "" {
			return is("?")
		}
		return is("")
	case "request_method":
		return is(r.method)
	case "http_host":
		return is(r.request.Host)
	case "host":
		if h := hostName(r.request.Host); h != "" {
			return is(h)
		}
		return is(r.server.serverNames()[0])
	case "server_name":
		return is(r.server.serverNames()[0])
	case "server_port":
		return is(ParseAddress(r.request.Address).Port)
	}
	if arg, ok := strings.CutPrefix(name, "arg_"); ok {
		return is(argument(r.args, arg))
	}
	return r.ofHeaders(name)
}

// ofHeaders are the variables of headers and cookies, if the headers are known.
func (r *requestRun) ofHeaders(name string) (value, bool) {
	if r.request.Headers == nil {
		return value{}, false
	}
	if header, ok := strings.CutPrefix(name, "http_"); ok {
		return value{r.request.Headers[strings.ReplaceAll(header, "_", "-")], true}, true
	}
	cookie, ok := strings.CutPrefix(name, "cookie_")
	if !ok {
		return value{}, false
	}
	for part := range strings.SplitSeq(r.request.Headers["cookie"], ";") {
		if n, v, ok := strings.Cut(strings.TrimSpace(part), "="); ok && strings.EqualFold(n, cookie) {
			return value{v, true}, true
		}
	}
	return value{"", true}, true
}

// argument is an argument of the query, as it was sent.
func argument(args, name string) string {
	for part := range strings.SplitSeq(args, "&") {
		if n, v, ok := strings.Cut(part, "="); ok && strings.EqualFold(n, name) {
			return v
		}
	}
	return ""
}

// isSet reports whether a set or a named group anywhere in the configuration makes
// the variable.
func (r *requestRun) isSet(name string) bool {
	is := false
	c := r.server.Config
	c.Walk(c.Root(), nil, func(p Place) {
		is = is || p.Name() == "set" && p.Arg(0) == "$"+name
		for _, w := range p.Words {
			is = is || strings.Contains(w.Raw, "(?<"+name+">") || strings.Contains(w.Raw, "(?P<"+name+">")
		}
	})
	return is
}
