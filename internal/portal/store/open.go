package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// A dialect is one of the three kinds of databases.
type dialect string

const (
	sqlite   dialect = "sqlite"
	mariadb  dialect = "mysql"
	postgres dialect = "postgres"
)

// Options are for Open.
type Options struct {
	// Unsafe does not wait for the disk (SQLite): for simulations, whose data may be lost.
	Unsafe bool
	// Point is called at each point at which a crash has to do no harm; nil for none. Tests
	// kill the process there.
	Point func(name string)
}

// A Store is an open database.
type Store struct {
	db      *sql.DB
	dialect dialect
	path    string // of the file (SQLite)
	point   func(string)

	writes chan *write   // SQLite only
	done   chan struct{} // closed when the writer has ended
	closed chan struct{}
}

// readers is how many connections read at the same time, and on a server how many write.
const readers = 8

// Open opens a database: a path of a file for SQLite, or mysql://USER:PASSWORD@HOST/NAME or
// postgres://….
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	s := &Store{point: o.Point, closed: make(chan struct{}), done: make(chan struct{})}
	if s.point == nil {
		s.point = func(string) {}
	}
	if err := s.connect(address, o); err != nil {
		return nil, err
	}
	if err := s.start(ctx, len(migrations)); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s *Store) connect(address string, o Options) (err error) {
	source := address
	switch {
	case strings.HasPrefix(address, "mysql://"):
		s.dialect = mariadb
		if source, err = mysqlSource(address); err != nil {
			return err
		}
	case strings.HasPrefix(address, "postgres://"):
		s.dialect = postgres
	case strings.Contains(address, "://"):
		return errors.New("opening the portal's database: want a path, mysql://… or postgres://…")
	default:
		s.dialect, s.path = sqlite, address
		full := "FULL"
		if o.Unsafe {
			full = "OFF"
		}
		q := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(" + full + ")", "busy_timeout(10000)", "foreign_keys(1)", "cache_size(-8000)"}}
		source = "file:" + (&url.URL{Path: address}).EscapedPath() + "?" + q.Encode()
	}
	if s.db, err = sql.Open(string(s.dialect), source); err != nil {
		return fmt.Errorf("opening the portal's database: %w", redacted(err, address))
	}
	s.db.SetMaxOpenConns(readers + 1)
	s.db.SetMaxIdleConns(readers + 1)
	return nil
}

// redacted keeps the password of an address out of an error.
func redacted(err error, address string) error {
	if u, bad := url.Parse(address); bad == nil && u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" && strings.Contains(err.Error(), password) {
			return errors.New("the address is not valid")
		}
	}
	return err
}

// mysqlSource is the driver's form of an address. Affected rows are the rows that were
// found: a compare-and-set that writes the same value has succeeded.
func mysqlSource(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("opening the portal's database: the address is no URL")
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	if socket := u.Query().Get("socket"); socket != "" {
		c.Net, c.Addr = "unix", socket
	}
	if u.User != nil {
		c.User = u.User.Username()
		c.Passwd, _ = u.User.Password()
	}
	c.ClientFoundRows = true
	c.Params = map[string]string{"sql_mode": "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"}
	c.Timeout, c.ReadTimeout, c.WriteTimeout = 10*time.Second, time.Minute, time.Minute
	return c.FormatDSN(), nil
}

// start makes a version of the schema and, for SQLite, the writer.
func (s *Store) start(ctx context.Context, version int) error {
	if err := s.migrate(ctx, version); err != nil {
		return err
	}
	if s.dialect != sqlite {
		close(s.done)
		return nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("opening the writer's connection: %w", err)
	}
	s.writes = make(chan *write, maxGroup)
	go s.writer(conn)
	return nil
}

// Close waits for the writes that were begun and closes the database.
func (s *Store) Close() error {
	select {
	case <-s.closed:
		return nil
	default:
		close(s.closed)
	}
	<-s.done
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the portal's database: %w", err)
	}
	return nil
}
