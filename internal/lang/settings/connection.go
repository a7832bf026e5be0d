package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A File is one file of the source.
type File struct{ Path, Text string }

// A Layer is an environment: that of the process, or a file with variables. The first
// layer that has a variable decides.
type Layer struct {
	Name   string // for people
	Values map[string]string
}

// A Part is a part of a connection.
type Part struct {
	Value string
	From  []Origin
	// Missing is what is not known, for people and without secrets; nil if Value holds.
	Missing []string
}

// Variable is the variable from which the whole part comes; false for one that comes
// from several places or from the source.
func (p Part) Variable() (Origin, bool) {
	if len(p.From) == 0 || p.From[0].Layer < 0 || slices.ContainsFunc(p.From, func(o Origin) bool { return o != p.From[0] }) {
		return Origin{}, false
	}
	return p.From[0], true
}

// Literal reports whether the part is in the source as a whole.
func (p Part) Literal() bool {
	return p.Value != "" && !slices.ContainsFunc(p.From, func(o Origin) bool { return o.Layer != -1 })
}

// A Connection is a connection to a database of MySQL's family.
type Connection struct {
	Path string // of the file that opens it
	Line int
	User, Password, Host, Port, Socket,
	Schema Part
}

// Complete reports whether user and address are known.
func (c *Connection) Complete() bool {
	return c.User.Value != "" && (c.Host.Value != "" && c.Port.Value != "" || c.Socket.Value != "")
}

// Where is the place of the connection.
func (c *Connection) Where() string { return fmt.Sprintf("%s:%d", c.Path, c.Line) }

// Missing lists what is not known of user, password and address.
func (c *Connection) Missing() []string {
	var out []string
	for _, p := range []struct {
		name string
		part Part
	}{{"the user", c.User}, {"the password", c.Password}, {"the host", c.Host}, {"the port", c.Port}} {
		if p.name == "the host" && c.Socket.Value != "" {
			continue
		}
		if len(p.part.Missing) > 0 && p.part.Value == "" {
			out = append(out, p.name+" ("+strings.Join(p.part.Missing, ", ")+")")
		}
	}
	return out
}

// Variables are the names of the variables from which the connection comes.
func (c *Connection) Variables() []string {
	var out []string
	for _, p := range []Part{c.User, c.Password, c.Host, c.Port, c.Socket, c.Schema} {
		for _, o := range p.From {
			if o.Layer >= 0 && !slices.Contains(out, o.Name) {
				out = append(out, o.Name)
			}
		}
	}
	return out
}

// Limits of one source.
const (
	MaxFile  = 1 << 20  // length of one file
	MaxFiles = 2_000    // files
	MaxAll   = 16 << 20 // length of all files
)

// Best are the connections of which something is known or can be asked, one for each
// place. Those that are known come first, then in the order of the files and lines.
func Best(all []Connection) []Connection {
	var out []Connection
	for _, c := range all {
		if !c.Complete() && len(c.Missing()) == 0 { // nothing is known of it, and nothing can be asked
			continue
		}
		i := slices.IndexFunc(out, func(o Connection) bool { return o.Path == c.Path && o.Line == c.Line })
		switch {
		case i < 0:
			out = append(out, c)
		case !out[i].Complete() && c.Complete(), out[i].Complete() == c.Complete() && len(c.Missing()) < len(out[i].Missing()):
			out[i] = c
		}
	}
	slices.SortStableFunc(out, func(a, b Connection) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	return out
}

func rank(c Connection) int {
	if c.Complete() {
		return len(c.Missing())
	}
	return 100
}

// Connection is the connection of fields at a place.
func (f Fields) Connection(path string, line int) Connection {
	if host := f["host"]; host.Kind == Text {
		if h, port := host.HostPort(); port.Text != "" {
			f["host"] = h
			if f["port"].Text == "" {
				f["port"] = port
			}
		}
	}
	c := Connection{Path: path, Line: line, User: partOf(f["user"]), Password: partOf(f["password"]), Host: partOf(f["host"]), Port: partOf(f["port"]),
		Socket: partOf(f["socket"]), Schema: partOf(f["schema"])}
	c.Schema.Missing = nil
	if strings.HasPrefix(c.Host.Value, "/") { // a socket in place of a host
		c.Socket, c.Host = c.Host, Part{}
	}
	if port, ok := f["port"]; c.Host.Value != "" && (!ok || port.Empty()) {
		c.Port.Value = "3306"
	}
	if strings.Trim(c.Port.Value, "0123456789") != "" || len(c.Port.Value) > 5 {
		c.Port = Part{Missing: []string{"its port is no number"}}
	}
	return c
}

func partOf(v Value) Part {
	switch {
	case v.Kind == Text && v.Text != "":
		return Part{Value: v.Text, From: v.origins()}
	case v.Kind == Text:
		return Part{From: v.origins(), Missing: v.Why}
	case v.Kind == Structure:
		return Part{Missing: []string{"it is computed"}}
	}
	return Part{Missing: v.Why}
}
