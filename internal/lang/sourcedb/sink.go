package sourcedb

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// fields are the parts of a connection by their names: user, password, host, port,
// socket, schema; engine is what tells other engines apart.
type fields map[string]value

// part is a field, null without one.
func (f fields) part(key string) value {
	if v, ok := f[key]; ok {
		return v
	}
	return value{kind: null}
}

// A found is a connection in the source.
type found struct {
	fields
	path string
	line int
}

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

// partsOf reads a table by the spellings.
func (r *runner) partsOf(t *table) fields {
	f := fields{}
	for _, key := range t.keys {
		name := spellings[strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))]
		if _, ok := f[name]; name != "" && !ok {
			f[name] = t.fields[key]
		}
	}
	for _, inner := range []string{"connection", "replication"} {
		v := f[inner]
		if inner == "replication" && v.kind == tables {
			v = v.table.fields["write"]
		}
		delete(f, inner)
		switch v.kind {
		case tables: // knex
			engine := f["engine"]
			if f = r.partsOf(v.table); f["engine"].kind == unknown {
				f["engine"] = engine
			}
		case texts:
			f["url"] = v
		}
	}
	if u := f["url"]; u.kind == texts && u.text != "" {
		for key, v := range r.split(u) {
			f[key] = v
		}
	} else if u.kind != texts && len(u.why) > 0 && len(f) < 3 {
		f["host"] = value{kind: unknown, why: u.why}
	}
	return f
}

// ofMySQL reports whether the engine of a connection is of MySQL's family, or not named.
func (f fields) ofMySQL() bool {
	e := f["engine"]
	if e.kind != texts {
		return true
	}
	name := strings.ToLower(e.text)
	return strings.Contains(name, "mysql") || strings.Contains(name, "maria") || strings.Contains(name, "trilogy")
}

// namesEngine reports whether a connection names an engine of MySQL's family.
func (f fields) namesEngine() bool { return f["engine"].kind == texts && f.ofMySQL() }

// complete counts what is known: user and address.
func (f fields) complete() bool {
	known := func(key string) bool { v := f[key]; return v.kind == texts && v.text != "" }
	return known("user") && (known("host") || known("socket"))
}

// split reads a DSN: the form of go-sql-driver, a URL, or PDO's. It has no fields for
// another text.
func (r *runner) split(v value) fields {
	if v.kind != texts || len(v.text) > maxText {
		return nil
	}
	c := &cutter{value: v}
	if rest, ok := strings.CutPrefix(v.text, "mysql:"); ok && !strings.HasPrefix(rest, "//") {
		f := fields{"engine": literal("mysql", Origin{})}
		c.at = len("mysql:")
		for word := range strings.SplitSeq(rest, ";") {
			key, is, _ := strings.Cut(word, "=")
			if name := spellings[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), "_", "")]; name != "" && name != "engine" {
				next := cutter{v, c.at + len(key) + 1}
				next.at = min(next.at, len(v.text))
				f[name] = next.part(strings.TrimSpace(is))
			}
			c.at = min(c.at+len(word)+1, len(v.text))
		}
		return f
	}
	if u, err := url.Parse(v.text); err == nil && u.Host != "" {
		return splitURL(u, c)
	}
	return splitDSN(v, c)
}

// splitURL reads mysql://user:password@host:port/schema.
func splitURL(u *url.URL, c *cutter) fields {
	f := fields{"engine": c.part(u.Scheme)}
	if !f.ofMySQL() {
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
func splitDSN(v value, cut *cutter) fields {
	if !strings.Contains(v.text, "/") || strings.Contains(v.text, "://") || !strings.Contains(v.text, "(") && !strings.Contains(v.text, "@") {
		return nil
	}
	c, err := mysql.ParseDSN(v.text)
	if i := strings.LastIndexByte(v.text, '?'); err != nil && i > 0 { // a parameter that this driver does not know
		c, err = mysql.ParseDSN(v.text[:i])
	}
	if err != nil || strings.ContainsAny(c.User, " \n") {
		return nil
	}
	f := fields{"engine": literal("mysql", Origin{}), "user": cut.part(c.User), "password": cut.part(c.Passwd)}
	if c.Net == "unix" {
		f["socket"] = cut.part(c.Addr)
	} else {
		host, port := hostPort(c.Addr)
		f["host"], f["port"] = cut.part(host), cut.part(port)
		if len(v.why) > 0 && !strings.Contains(v.text, host) { // the driver's default in place of what is missing
			f["host"] = value{kind: unknown, why: v.why}
		}
	}
	f["schema"] = cut.part(c.DBName)
	return f
}

// notConnections are functions that may get the text of a connection and open none.
var notConnections = []string{"print", "log", "puts", "warn", "error", "fatal", "panic", "debug", "info", "echo", "trace", "errorf", "sprintf", "assert", "expect", "equal", "exit", "raise", "exception", "replace", "match", "split", "contains", "write", "setenv", "join", "trim"}

// connect collects the connection that a call opens.
func (r *runner) connect(callee *node, args []argument, s *scope, line int) (value, bool) {
	p := strings.ToLower(s.unit.aliased(calleeName(callee)))
	last := p[strings.LastIndexByte(p, '.')+1:]
	if slices.ContainsFunc(notConnections, func(w string) bool { return strings.HasPrefix(last, w) }) || strings.HasPrefix(p, "log.") || strings.HasPrefix(p, "logger.") || strings.HasPrefix(p, "console.") {
		return value{}, false
	}
	f := r.opened(callee, last, p, args, s)
	if f == nil || !f.ofMySQL() {
		return value{}, f != nil
	}
	r.add(f, s.unit, line)
	return value{}, true
}

// opened are the parts of the connection that a call opens; nil for another call.
func (r *runner) opened(callee *node, last, p string, args []argument, s *scope) fields {
	first, second := arg(args, 0), arg(args, 1)
	switch {
	case s.unit.lang == langGo:
		return r.openedInGo(callee, args)
	case p == "pdo" || strings.HasSuffix(p, ".pdo") && s.unit.lang == langPHP:
		f := r.split(first)
		if f == nil && first.kind == unknown {
			f = fields{"host": first}
		}
		if f != nil && len(args) > 1 {
			f["user"], f["password"] = second, arg(args, 2)
		}
		return f
	case p == "mysqli" || p == "mysqli_connect" || last == "real_connect":
		f := fields{}
		for i, key := range []string{"host", "user", "password", "schema", "port", "socket"} {
			if f[key] = arg(args, i); len(args) <= i {
				delete(f, key)
			}
		}
		for _, a := range args {
			if key := spellings[a.name]; key != "" {
				f[key] = a.value
			}
		}
		return persistent(f)
	case s.unit.lang == langPython && last == "connect" && first.kind == texts && second.kind == texts && (strings.HasPrefix(p, "pymysql") || strings.HasPrefix(p, "mysqldb")):
		f := fields{}
		for i, key := range []string{"host", "user", "password", "schema"} {
			f[key] = arg(args, i)
		}
		for _, a := range args {
			if key := spellings[a.name]; key != "" {
				f[key] = a.value
			}
		}
		return f
	case last == "sequelize" && len(args) >= 3:
		f := fields{}
		for _, a := range args {
			if a.value.kind == tables {
				f = r.partsOf(a.value.table)
			}
		}
		f["schema"], f["user"], f["password"] = first, second, arg(args, 2)
		return f
	}
	return r.openedByName(last, p, args)
}

// persistent removes PHP's mark of a persistent connection.
func persistent(f fields) fields {
	if h := f["host"]; h.kind == texts {
		h.text = strings.TrimPrefix(h.text, "p:")
		f["host"] = h
	}
	return f
}

// openers are functions that open a connection, by their last names in lower case; those
// that do it for any engine need an engine or a URL that names MySQL.
var openers = map[string]bool{
	"createpool": true, "createconnection": true, "createpoolcluster": false, "mysqlconnectionpool": true, "mysqldatabase": true, "pooledmysqldatabase": true,
	"sequelize": false, "knex": false, "datasource": false, "drizzle": false, "create_engine": false, "create_async_engine": false,
	"establish_connection": false, "pooleddb": true, "trilogy": true, "capsule": false, "addconnection": false,
}

// openedByName is what a call with named parts opens.
func (r *runner) openedByName(last, p string, args []argument) fields {
	own, known := openers[last]
	switch {
	case known:
	case (last == "connect" || last == "create_pool" || last == "new" || last == "connection" || last == "client") && (strings.Contains(p, "mysql") || strings.Contains(p, "mariadb") || strings.Contains(p, "trilogy")):
		own, known = true, true
	case p == "sequel.connect", strings.HasSuffix(p, "url.create"), p == "databases.database", p == "database", p == "db.connect", p == "dj_database_url.parse", p == "dj_database_url.config":
		known = true
	}
	if !known {
		return nil
	}
	t := newTable("", Origin{})
	for i, a := range args {
		switch {
		case a.name != "":
			t.set(a.name, a.value)
		case a.value.kind == tables && i < 2:
			for _, key := range a.value.table.keys {
				t.set(key, a.value.table.fields[key])
			}
		case a.value.kind == texts && r.split(a.value)["host"].kind == texts:
			t.set("url", a.value)
		case a.value.kind == texts && last == "mysqldatabase" && i == 0:
			t.set("database", a.value)
		case a.value.kind == texts && i == 0 && strings.HasPrefix(a.value.text, "mysql+"): // the driver's name of SQLAlchemy
			t.set("drivername", a.value)
		case a.value.kind == unknown && len(args) == 1 || a.value.kind == null && len(a.value.why) > 0:
			t.set("url", value{kind: null, why: append([]string{"the address"}, a.value.why...)})
		}
	}
	if d, ok := t.fields["default"]; ok {
		t.set("url", d)
	}
	f := r.partsOf(t)
	_, user := f["user"]
	_, schema := f["schema"]
	_, address := f["url"]
	return r.ownOnly(f, own && (user || schema || address)) // else it is no connection to a database
}

// ownOnly is a connection if it is known to be one of MySQL's family.
func (r *runner) ownOnly(f fields, own bool) fields {
	if !own && !f.namesEngine() || len(f) == 0 {
		return nil
	}
	if f["host"].kind == unknown && f["socket"].kind == unknown && len(f["host"].why) == 0 && f["user"].kind != unknown {
		f["host"] = value{kind: texts, text: "localhost"} // what the libraries take
	}
	return f
}

// openedInGo is what a call in Go opens: sql.Open("mysql", dsn) and its likes, also of
// other libraries, and the Open of an ORM's driver.
func (r *runner) openedInGo(callee *node, args []argument) fields {
	var dsn value
	pkg := ""
	if callee.op == opField && callee.kids[0].op == opName {
		pkg = callee.kids[0].text
	}
	for i, a := range args {
		if a.value.kind == texts && (a.value.text == "mysql" || a.value.text == "nrmysql") && i+1 < len(args) {
			dsn = args[i+1].value
		}
	}
	if strings.HasSuffix(pkg, "driver/mysql") && callee.text == "Open" {
		dsn = arg(args, 0)
	}
	if t := arg(args, 0).table; strings.HasSuffix(pkg, "driver/mysql") && callee.text == "New" && t != nil {
		dsn = t.get("DSN")
	}
	if dsn.dsnOf != nil {
		return nil // its configuration is collected
	}
	if f := r.split(dsn); f != nil {
		return f
	}
	if dsn.kind == unknown && len(dsn.why) > 0 || dsn.kind == texts && len(dsn.why) > 0 {
		return fields{"host": {kind: unknown, why: dsn.why}}
	}
	for _, a := range args { // an own function that opens it
		if f := r.split(a.value); f != nil && f["user"].text != "" && f.namesEngine() && f.complete() {
			return f
		}
	}
	return nil
}

// connectConfig collects a mysql.Config at the end of the evaluation.
func (r *runner) connectConfig(t *table) {
	f := fields{"user": t.get("User"), "password": t.get("Passwd"), "schema": t.get("DBName")}
	addr := t.get("Addr")
	switch n := t.get("Net"); {
	case n.text == "unix":
		f["socket"] = addr
	case addr.kind == texts:
		f["host"], f["port"] = addr.address()
		if addr.text == "" {
			f["host"] = value{kind: texts, text: "127.0.0.1"}
		}
	case addr.kind == null:
		f["host"] = value{kind: texts, text: "127.0.0.1"} // the driver's default
	default:
		f["host"] = addr
	}
	if f["user"].kind == null && addr.kind == null {
		return // a configuration for something else, such as a test of the driver
	}
	r.found = append(r.found, &found{f, t.origin.Path, t.origin.Line})
}

func (t *table) get(key string) value {
	if v, ok := t.fields[key]; ok {
		return v
	}
	return value{kind: null}
}

// maxFound bounds the connections of one source.
const maxFound = 200

func (r *runner) add(f fields, u *unit, line int) {
	if len(r.found) < maxFound {
		r.found = append(r.found, &found{f, u.path, line})
	}
}

// weakly notes a DSN that is only assigned: it counts where nothing is known to open a
// connection.
func (r *runner) weakly(v value, s *scope, line int) {
	if v.kind != texts || len(r.weak) >= maxFound || !strings.ContainsAny(v.text, "@") {
		return
	}
	if f := r.split(v); f != nil && f.namesEngine() && f.complete() {
		r.weak = append(r.weak, &found{f, s.unit.path, line})
	}
}

// configured collects what the keys of a framework's settings hold, as in
// app.config["SQLALCHEMY_DATABASE_URI"].
func (r *runner) configured(key string, v value, s *scope, line int) {
	switch key {
	case "SQLALCHEMY_DATABASE_URI", "DATABASE_URL":
		if f := r.split(v); f != nil && f.ofMySQL() {
			r.add(f, s.unit, line)
		}
	}
}

// settingsOf collects what a file's variables of known names hold: Django's DATABASES,
// and the constants of a WordPress.
func (r *runner) settingsOf(u *unit) {
	if u.top == nil {
		return
	}
	vars := u.top.vars
	if all := vars["DATABASES"]; all.kind == tables && u.lang == langPython {
		if one := all.table.fields["default"]; one.kind == tables {
			if f := r.partsOf(one.table); f.namesEngine() {
				if f["host"].text == "" && len(f["host"].why) == 0 {
					f["host"] = value{kind: texts, text: "localhost"}
				}
				if strings.HasPrefix(f["host"].text, "/") {
					f["socket"] = f["host"]
				}
				r.found = append(r.found, &found{f, u.path, one.table.origin.Line})
			}
		}
	}
	r.configured("SQLALCHEMY_DATABASE_URI", vars["SQLALCHEMY_DATABASE_URI"], &scope{unit: u}, vars["SQLALCHEMY_DATABASE_URI"].line())
	host, user := vars["DB_HOST"], vars["DB_USER"]
	if u.lang == langPHP && path.Base(u.path) == "wp-config.php" && host.kind == texts && user.kind == texts {
		f := fields{"user": user, "password": vars["DB_PASSWORD"], "schema": vars["DB_NAME"]}
		f["host"], f["port"] = host.address()
		r.found = append(r.found, &found{f, u.path, host.line()})
	}
}

func (v value) line() int {
	for _, o := range v.from {
		if o.Layer < 0 && o.Line > 0 {
			return o.Line
		}
	}
	return 1
}

// asConfig collects what a configuration file gives to a framework: a table with an
// engine and an account, or one for each mode.
func (r *runner) asConfig(v value, u *unit, line int) {
	if v.kind != tables {
		return
	}
	t := v.table
	if c := t.fields["connections"]; c.kind == tables { // Laravel
		chosen := t.fields["default"]
		one, ok := c.table.fields[chosen.text]
		if !ok || chosen.kind != texts {
			one = c.table.fields["mysql"]
		}
		r.asConfig(one, u, line)
		return
	}
	if f := r.partsOf(t); f.namesEngine() && (f["host"].kind != unknown || f["socket"].kind != unknown || f["user"].kind != unknown || len(f["host"].why) > 0) {
		r.add(f, u, max(t.origin.Line, 1))
		return
	}
	if one, ok := t.fields[r.mode("NODE_ENV", "APP_ENV")]; ok && one.kind == tables && one.table.typ == "" {
		r.asConfig(one, u, line)
	}
}

// mode is the framework's mode by the first of the variables that is set.
func (r *runner) mode(names ...string) string {
	for _, name := range names {
		if v := r.env(name, nil, 0); v.kind == texts && v.text != "" {
			return v.text
		}
	}
	return "development"
}
