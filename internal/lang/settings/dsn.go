package settings

import (
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Fields are the parts of a connection by their names: user, password, host, port,
// socket, schema; engine is what tells other engines apart.
type Fields map[string]Value

// spellings are the names of the parts in arguments and tables, in lower case and
// without underscores.
var spellings = map[string]string{
	"user": "user", "username": "user", "dbuser": "user",
	"password": "password", "passwd": "password", "pass": "password", "pw": "password", "pwd": "password",
	"host": "host", "hostname": "host", "server": "host", "addr": "host", "address": "host", "port": "port",
	"socket": "socket", "socketpath": "socket", "unixsocket": "socket",
	"database": "schema", "db": "schema", "dbname": "schema", "databasename": "schema", "schema": "schema", "name": "schema",
	"engine": "engine", "adapter": "engine", "dialect": "engine", "driver": "engine", "client": "engine", "drivername": "engine", "type": "engine", "connection": "connection",
	"url": "url", "uri": "url", "dsn": "url", "connectionstring": "url", "connectionuri": "url", "replication": "replication",
}

// Of reads the parts of a connection in a table by their spellings.
func Of(t *Table) Fields {
	f := Fields{}
	for _, key := range t.Keys {
		name := spellings[strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))]
		if _, ok := f[name]; name != "" && !ok {
			f[name] = t.Fields[key]
		}
	}
	for _, inner := range []string{"connection", "replication"} {
		v := f[inner]
		if inner == "replication" && v.Kind == Structure {
			v = v.Table.Fields["write"]
		}
		delete(f, inner)
		switch v.Kind {
		case Structure: // knex
			engine := f["engine"]
			if f = Of(v.Table); f["engine"].Kind == Unknown {
				f["engine"] = engine
			}
		case Text:
			f["url"] = v
		}
	}
	if u := f["url"]; u.Kind == Text && u.Text != "" {
		for key, v := range Split(u) {
			f[key] = v
		}
	} else if len(u.Why) > 0 && len(f) < 3 {
		f["host"] = Value{Why: u.Why}
	}
	return f
}

// OfMySQL reports whether the engine of a connection is of MySQL's family, or not named.
func (f Fields) OfMySQL() bool {
	e := f["engine"]
	if e.Kind != Text {
		return true
	}
	name := strings.ToLower(e.Text)
	return strings.Contains(name, "mysql") || strings.Contains(name, "maria") || strings.Contains(name, "trilogy")
}

// NamesEngine reports whether a connection names an engine of MySQL's family.
func (f Fields) NamesEngine() bool { return f["engine"].Kind == Text && f.OfMySQL() }

// OfText are the parts of a connection in the text of a DSN, or what is missing of it.
func OfText(v Value) Fields {
	if f := Split(v); f != nil {
		return f
	}
	if v.Kind != Text && len(v.Why) > 0 || v.Kind == Text && v.Text == "" {
		return Fields{"host": Value{Why: v.Why}}
	}
	return nil
}

// Split reads a DSN: the form of go-sql-driver, a URL, or PDO's. It has no fields for
// another text.
func Split(v Value) Fields {
	if v.Kind != Text || len(v.Text) > maxText {
		return nil
	}
	c := &cutter{Value: v}
	if rest, ok := strings.CutPrefix(v.Text, "mysql:"); ok && !strings.HasPrefix(rest, "//") {
		return splitPDO(rest, c)
	}
	if u, err := url.Parse(v.Text); err == nil && u.Host != "" {
		return splitURL(u, c)
	}
	return splitDSN(v, c)
}

// splitPDO reads host=…;dbname=…, which begins after mysql:.
func splitPDO(rest string, c *cutter) Fields {
	f := Fields{"engine": Literal("mysql")}
	c.at = len("mysql:")
	for word := range strings.SplitSeq(rest, ";") {
		key, is, _ := strings.Cut(word, "=")
		if name := spellings[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), "_", "")]; name != "" && name != "engine" {
			next := cutter{c.Value, min(c.at+len(key)+1, len(c.Text))}
			f[name] = next.part(strings.TrimSpace(is))
		}
		c.at = min(c.at+len(word)+1, len(c.Text))
	}
	return f
}

// splitURL reads mysql://user:password@host:port/schema.
func splitURL(u *url.URL, c *cutter) Fields {
	f := Fields{"engine": c.part(u.Scheme)}
	if !f.OfMySQL() {
		return f
	}
	if u.User != nil {
		f["user"] = c.part(u.User.Username())
		if p, ok := u.User.Password(); ok {
			f["password"] = c.part(p)
		}
	}
	f["host"] = c.part(u.Hostname())
	if u.Port() != "" {
		f["port"] = c.part(u.Port())
	}
	if name := strings.Trim(u.Path, "/"); name != "" {
		f["schema"] = c.part(name)
	}
	for _, name := range []string{"unix_socket", "socket", "socketPath", "socketpath"} {
		if s := u.Query().Get(name); s != "" {
			f["socket"] = c.part(s)
		}
	}
	return f
}

// splitDSN reads the form of go-sql-driver.
func splitDSN(v Value, cut *cutter) Fields {
	if !strings.Contains(v.Text, "/") || strings.Contains(v.Text, "://") || !strings.Contains(v.Text, "(") && !strings.Contains(v.Text, "@") {
		return nil
	}
	c, err := mysql.ParseDSN(v.Text)
	if i := strings.LastIndexByte(v.Text, '?'); err != nil && i > 0 { // a parameter that this driver does not know
		c, err = mysql.ParseDSN(v.Text[:i])
	}
	if err != nil || strings.ContainsAny(c.User, " \n") {
		return nil
	}
	f := Fields{"engine": Literal("mysql"), "user": cut.part(c.User), "password": cut.part(c.Passwd)}
	if c.Net == "unix" {
		f["socket"] = cut.part(c.Addr)
	} else {
		host, port := Value{Kind: Text, Text: c.Addr}.HostPort()
		f["host"], f["port"] = cut.part(host.Text), cut.part(port.Text)
		if len(v.Why) > 0 && !strings.Contains(v.Text, host.Text) { // the driver's default in place of what is missing
			f["host"] = Value{Why: v.Why}
		}
	}
	f["schema"] = cut.part(c.DBName)
	return f
}
