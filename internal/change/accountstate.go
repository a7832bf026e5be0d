package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// missingAccount are the errors of servers about an account that is missing:
// ER_PASSWORD_NO_MATCH, ER_NONEXISTING_GRANT and ER_CANNOT_USER.
var missingAccount = []uint16{1133, 1141, 1396}

// sockets are where the host of a server with the MySQL protocol reaches it without a
// password.
var sockets = []string{"/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"}

// ServerOn opens the server of a host by its socket, as the account that acts there. It need
// not be the one that the service uses now.
func (s *Site) ServerOn(on, service string) (*sql.DB, error) {
	h, err := s.On(on)
	if err != nil {
		return nil, err
	}
	path, err := s.socketOn(h, service)
	if err != nil {
		return nil, err
	}
	return h.SQL(host.Login{Socket: path})
}

// socketOn is the socket of the server of a host, which need not be the one that the service
// uses now.
func (s *Site) socketOn(h host.Host, service string) (string, error) {
	svc, _ := s.Target.Service(service)
	for _, path := range append([]string{svc.Socket}, sockets...) {
		if path == "" {
			continue
		}
		_, err := h.Stat(path)
		if lostIn(err) != nil {
			return "", err
		}
		if err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the socket of %s on %s was not found", service, h.Name())
}

// accountOn finds the server of an op on an account. The caller closes what it gets.
func (s *Site) accountOn(op iikanji.Op) (*server, AccountName, AccountOrder, error) {
	o, err := ParseAccountOrder(op.Body)
	if err != nil {
		return nil, AccountName{}, o, err
	}
	service, name, _ := strings.Cut(op.Place, "/")
	a, err := ParseAccount(name)
	if err != nil {
		return nil, a, o, err
	}
	if svc := s.Services[service]; svc.Host == op.Host {
		if db := svc.DB(); db != nil {
			return &server{db, false}, a, o, nil
		}
		return nil, a, o, fmt.Errorf("%s is not an account of a database", op.Place)
	}
	db, err := s.ServerOn(op.Host, service)
	return &server{db, true}, a, o, err
}

// A server is the pool of a service, or one of its own.
type server struct {
	*sql.DB
	own bool
}

func (s *server) done() {
	if s.own {
		s.Close()
	}
}

// AccountStatements are the statements that make an account, with @ in place of its name:
// its authentication and its grants. They may have secrets. It is nil without an error if
// there is no such account.
func AccountStatements(ctx context.Context, db *sql.DB, a AccountName) ([]string, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Close()
	// MySQL shows the hashes of some plugins as bytes otherwise; MariaDB has no such variable.
	_, _ = conn.ExecContext(ctx, "SET SESSION print_identified_with_as_hex = 1")
	var all []string
	for _, statement := range []string{"SHOW CREATE USER " + a.sql(), "SHOW GRANTS FOR " + a.sql()} {
		lines, err := textLines(conn.QueryContext(ctx, statement))
		var refused *mysql.MySQLError
		if errors.As(err, &refused) && slices.Contains(missingAccount, refused.Number) {
			return nil, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading account %s: %w", a, err)
		}
		for _, line := range lines {
			named := false
			for _, form := range []string{"`" + a.User + "`@`" + a.Host + "`", "'" + a.User + "'@'" + a.Host + "'"} {
				named = named || strings.Contains(line, form)
				line = strings.ReplaceAll(line, form, "@")
			}
			if !named {
				return nil, fmt.Errorf("reading account %s: the server spells its name in an unknown way", a)
			}
			all = append(all, line)
		}
	}
	return all, nil
}

// textLines reads the first column of all rows.
func textLines(rows *sql.Rows, err error) (lines []string, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}

// sql is the name as in a statement; its form needs no escapes.
func (a AccountName) sql() string { return "'" + a.User + "'@'" + a.Host + "'" }

// AccountDigest is that of the statements of an account.
func AccountDigest(statements []string) string {
	sorted := slices.Sorted(slices.Values(statements))
	return string(FingerprintOf([]byte(strings.Join(sorted, "\n"))))
}

// accountNow reads the state of an account: its fingerprint, and a text for people without
// secrets.
func (s *Site) accountNow(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, string, error) {
	now, text, err := s.readAccount(ctx, op)
	return now, text, s.lostBy(op, err)
}

// lostBy adds that the host of an op is lost, where its database failed by that: drivers report
// a connection of their own.
func (s *Site) lostBy(op iikanji.Op, err error) error {
	if err == nil || lostIn(err) != nil {
		return err
	}
	h, unknown := s.On(op.Host)
	if unknown != nil {
		return err
	}
	if _, probe := h.Lstat("/"); lostIn(probe) != nil {
		return errors.Join(err, probe)
	}
	return err
}

func (s *Site) readAccount(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, string, error) {
	db, a, o, err := s.accountOn(op)
	if err != nil {
		return "", "", err
	}
	defer db.done()
	now, err := AccountStatements(ctx, db.DB, a)
	if err != nil || now == nil {
		return Absent, "", err
	}
	digest := AccountDigest(now)
	if digest == o.Digest {
		return iikanji.Fingerprint(digest), o.text(iikanji.Fingerprint(digest)), nil
	}
	like, err := AccountStatements(ctx, db.DB, o.As)
	if err != nil {
		return "", "", err
	}
	// CREATE USER and some of the grants were carried out, and no other ones.
	unfinished := AccountDigest(like) == o.Digest && !slices.ContainsFunc(now, func(line string) bool { return !slices.Contains(like, line) && !plainUsage(line) })
	if unfinished {
		return Partly, fmt.Sprintf("%d of %d statements\n", len(now), len(like)), nil
	}
	return iikanji.Fingerprint(digest), "another account of this name\n", nil
}

// plainUsage reports whether a grant is the one that each account has.
func plainUsage(line string) bool { return strings.HasPrefix(line, "GRANT USAGE ON *.* TO @") }

// performAccount makes or removes an account. It may be performed again.
func (s *Site) performAccount(ctx context.Context, op iikanji.Op) error {
	return s.lostBy(op, s.changeAccount(ctx, op))
}

func (s *Site) changeAccount(ctx context.Context, op iikanji.Op) error {
	db, a, o, err := s.accountOn(op)
	if err != nil {
		return err
	}
	defer db.done()
	now, text, err := s.accountNow(ctx, op)
	if err != nil {
		return err
	}
	if _, left := o.states(); now == left {
		return nil
	}
	if now != Absent && now != Partly && o.text(now) == "" {
		return fmt.Errorf("%s is %s", op.Place, strings.TrimSpace(text))
	}
	if now != Absent {
		if _, err := db.ExecContext(ctx, "DROP USER "+a.sql()); err != nil {
			return fmt.Errorf("removing account %s: %w", a, err)
		}
	}
	if o.Remove {
		return nil
	}
	like, err := AccountStatements(ctx, db.DB, o.As)
	if err != nil {
		return err
	}
	if AccountDigest(like) != o.Digest {
		return fmt.Errorf("account %s has changed since the plan", o.As)
	}
	for _, statement := range like {
		if _, err := db.ExecContext(ctx, strings.ReplaceAll(statement, "@", a.sql())); err != nil {
			return fmt.Errorf("making account %s as %s: %w", a, o.As, scrubbed(err))
		}
	}
	return nil
}

// scrubbed is an error of a statement with a secret: the server may quote the statement.
func scrubbed(err error) error {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return fmt.Errorf("the server refused it with error %d", refused.Number)
	}
	return err
}
