package discover

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A login is one way to reach a database.
type login struct {
	host.Login
	ref   target.Ref
	where string
}

// database asks a database server of MySQL's family, with the first account that
// it accepts.
func (s *search) database(ctx context.Context, svc *service) {
	s.configOf(ctx, svc)
	logins := s.logins(svc)
	var refused []string
	for _, l := range logins {
		err := s.askDatabase(ctx, svc, l)
		if svc.reached = err == nil; svc.reached {
			return
		}
		refused = append(refused, l.where+": "+err.Error())
	}
	s.note(svc, "no account reaches it", Guess, "%s", strings.Join(refused, "; "))
	s.todo("service %s: fill in database.user and database.password with an account that may alter tables", svc.Name)
}

// logins are the accounts to try: this process's own through the socket, then
// those of the apps' DSNs.
func (s *search) logins(svc *service) []login {
	var out []login
	socket := svc.Socket
	for _, l := range s.m.Of(svc.proc.PID) {
		if socket == "" && l.Path != "" && !strings.HasSuffix(l.Path, "mysqlx.sock") {
			socket = l.Path
		}
	}
	schema := s.schemaOf(svc)
	if socket != "" {
		out = append(out, login{Login: host.Login{Socket: socket, Schema: schema}, where: "the account of this user, by the socket"})
	}
	if l, ok := s.ownLogin(); ok {
		if l.Schema, l.Socket = schema, socket; socket == "" {
			l.Address = target.Reachable(svc.Listen)
		}
		out = append(out, l)
	}
	for _, app := range s.order {
		for _, d := range app.dsns {
			if s.serviceAt(d.address) != svc && !(svc.Socket != "" && d.address == svc.Socket) {
				continue
			}
			l := login{Login: host.Login{User: d.user, Password: d.password, Schema: d.schema, Address: d.address}, ref: d.ref, where: "the account of " + app.Name + ", from its " + d.where}
			if strings.HasPrefix(d.address, "/") {
				l.Address, l.Socket = "", d.address
			}
			out = append(out, l)
		}
	}
	return out
}

// ownLogin is the account of ~/.my.cnf, which the clients of this user take.
func (s *search) ownLogin() (login, bool) {
	home, err := os.UserHomeDir()
	if err != nil {
		return login{}, false
	}
	path := filepath.Join(home, ".my.cnf")
	b, err := s.host.Read(path)
	if err != nil || len(b) > maxEnvFile {
		return login{}, false
	}
	values := settings.Dotenv(string(b))
	l := login{Login: host.Login{User: values["user"], Password: values["password"]}, where: "the account of " + path}
	if l.Password != "" {
		l.ref = target.Ref("file:" + path + ":password")
	}
	return l, l.User != ""
}

// schemaOf is the schema that the apps use.
func (s *search) schemaOf(svc *service) string {
	for _, app := range s.order {
		for _, d := range app.dsns {
			if d.schema != "" && s.serviceAt(d.address) == svc {
				return d.schema
			}
		}
	}
	return ""
}

// askDatabase asks a server what it is and fills in the service.
func (s *search) askDatabase(ctx context.Context, svc *service, l login) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	db, err := s.host.SQL(l.Login)
	if err != nil {
		return err
	}
	defer db.Close()
	var version, dir, hostname, slow, logError string
	row := db.QueryRowContext(ctx, "SELECT VERSION(), @@datadir, @@hostname, @@slow_query_log_file, @@log_error")
	if err := row.Scan(&version, &dir, &hostname, &slow, &logError); err != nil {
		return fmt.Errorf("%s", withoutSecret(err.Error(), l.Password))
	}
	if strings.Contains(strings.ToLower(version), "mariadb") {
		svc.Engine = iikanji.EngineMariaDB
	}
	s.note(svc, fmt.Sprintf("%s %s, data in %s", svc.Engine, version, dir), Sure, "%s", l.where)
	in := func(path string) string {
		if path == "" || path == "stderr" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	svc.Logs.Slow = in(slow)
	if logError != "" && logError != "stderr" {
		svc.Logs.Error = in(logError)
	}
	if l.Socket != "" {
		svc.Socket = l.Socket
	}
	if l.User != "" {
		svc.Database.User, svc.Database.Password = l.User, l.ref
		if l.ref == "" && l.Password != "" {
			s.todo("service %s: fill in database.password: the password was found in the %s, to which the file cannot refer", svc.Name, l.where)
		}
	}
	s.schema(ctx, db, svc, l.Schema)
	s.rights(ctx, db, svc)
	if svc.Database.Loads = s.schemaFolders(); len(svc.Database.Loads) > 0 {
		s.note(svc, "SQL files that create tables in "+strings.Join(svc.Database.Loads, ", "), Likely, "whether initialize loads them is found out when an index is to be kept")
		for _, dir := range svc.Database.Loads {
			s.mayWrite(dir)
		}
	}
	return nil
}

// systemSchemas are not part of a site.
const systemSchemas = "'mysql','information_schema','performance_schema','sys'"

// schema fills in the schema of the site: that of the DSN, or the only one.
func (s *search) schema(ctx context.Context, db *sql.DB, svc *service, known string) {
	rows, err := db.QueryContext(ctx, "SELECT table_schema, COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables"+
		" WHERE table_schema NOT IN ("+systemSchemas+") GROUP BY table_schema ORDER BY 2 DESC")
	if err != nil {
		return
	}
	defer rows.Close()
	sizes, names := map[string]float64{}, []string{}
	for rows.Next() {
		var name string
		var size float64
		if rows.Scan(&name, &size) == nil {
			sizes[name] = size
			names = append(names, name)
		}
	}
	known = cmp.Or(known, svc.Database.Schema) // as an app of another machine names it
	svc.Database.Schema = known
	if known == "" && len(names) > 0 {
		svc.Database.Schema = names[0]
		if len(names) > 1 {
			s.todo("service %s has several schemas (%s): check database.schema", svc.Name, strings.Join(names, ", "))
		}
	}
	if name := svc.Database.Schema; name != "" {
		s.note(svc, fmt.Sprintf("schema %s, %s", name, iikanji.Bytes(sizes[name])), Sure, "information_schema")
	}
}

// rights checks whether the account may switch the slow log on.
func (s *search) rights(ctx context.Context, db *sql.DB, svc *service) {
	var global string
	if db.QueryRowContext(ctx, "SELECT @@GLOBAL.long_query_time").Scan(&global) != nil {
		return
	}
	if err := MaySetGlobal(ctx, db); err != nil {
		s.note(svc, "its account may not set global variables", Sure, "%v", err)
		s.todo("service %s: give an account with the right to set global variables in database.user (iikanji doctor shows the statement), or run iikanji as root", svc.Name)
	}
}

// MaySetGlobal reports by an error whether an account may set global variables.
// Its rights are read; nothing is set.
func MaySetGlobal(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SHOW GRANTS")
	if err != nil {
		return fmt.Errorf("reading the rights: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var grant string
		if err := rows.Scan(&grant); err != nil {
			return fmt.Errorf("reading the rights: %w", err)
		}
		upper := strings.ToUpper(grant)
		rights, on, _ := strings.Cut(strings.TrimPrefix(upper, "GRANT "), " ON ")
		if !strings.HasPrefix(strings.TrimSpace(on), "*.*") {
			continue
		}
		for right := range strings.SplitSeq(rights, ",") {
			if slices.Contains([]string{"ALL PRIVILEGES", "ALL", "SUPER", "SYSTEM_VARIABLES_ADMIN"}, strings.TrimSpace(right)) {
				return nil
			}
		}
	}
	return errors.Join(rows.Err(), errNoRight)
}

var errNoRight = errors.New("the account has neither SUPER nor SYSTEM_VARIABLES_ADMIN")

// withoutSecret removes a password from a message.
func withoutSecret(text, password string) string {
	if password == "" {
		return text
	}
	return strings.ReplaceAll(text, password, "***")
}

// configOf finds the configuration files of a database server. Settings go into a file of
// their own in its folder for further files; without such a folder, into the last file
// that it reads.
func (s *search) configOf(ctx context.Context, svc *service) {
	files := s.optionFiles(ctx, svc)
	var includes []string
	first, last := len(files), "" // an included file is read in the middle of another one
	for i := 0; i < len(files) && i < 100; i++ {
		b, err := s.host.Read(files[i])
		if err != nil {
			continue
		}
		svc.Config = cmp.Or(svc.Config, files[i])
		if i < first && !strings.HasPrefix(filepath.Base(files[i]), ".") { // .my.cnf is a user's
			last = files[i]
		}
		for line := range strings.Lines(string(b)) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			path := strings.TrimSpace(rest)
			if path != "" && !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(files[i]), path)
			}
			switch word {
			case "!include":
				files = append(files, path)
			case "!includedir":
				includes = append(includes, filepath.Clean(path))
			}
		}
	}
	if svc.Config != "" {
		s.note(svc, "configuration "+svc.Config, Sure, "the server reads it")
	}
	switch {
	case len(includes) > 0:
		dir := includes[len(includes)-1]
		svc.DropIn = filepath.Join(dir, "zz-iikanji.cnf")
		s.note(svc, "further settings in "+dir, Sure, "the last !includedir of its configuration")
		s.mayWrite(dir)
	case last != "":
		svc.Config, svc.DropIn = last, last
		s.note(svc, "further settings at the end of "+last, Likely, "the last file that the server reads, and no file of its configuration has !includedir")
		s.mayWrite(filepath.Dir(last))
	default:
		s.note(svc, "no file for further settings", Likely, "the server reads no configuration")
		s.todo("service %s: for changes of the server's settings start it with a configuration, and fill in config and drop_in (not needed for indexes)", svc.Name)
	}
}

// optionFiles are the files that a server reads, in order.
func (s *search) optionFiles(ctx context.Context, svc *service) []string {
	extra := ""
	for _, a := range svc.proc.Args[1:] {
		if a == "--no-defaults" {
			return nil
		}
		if path, ok := strings.CutPrefix(a, "--defaults-file="); ok {
			if !filepath.IsAbs(path) {
				path = filepath.Join(svc.proc.Dir, path)
			}
			return []string{path}
		}
		if path, ok := strings.CutPrefix(a, "--defaults-extra-file="); ok {
			extra = path
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	const mark = "Default options are read from the following files in the given order:"
	r, err := s.host.Exec(ctx, host.Command{Path: svc.proc.Program, Args: []string{"--no-defaults", "--verbose", "--help"}, Dir: "/"})
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(r.Output), mark)
	line, _, _ := strings.Cut(strings.TrimLeft(rest, "\r\n"), "\n")
	var out []string
	for path := range strings.FieldsSeq(line) {
		if filepath.IsAbs(path) {
			out = append(out, path)
		}
	}
	if extra != "" {
		out = append(out, extra)
	}
	return out
}
