package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"sync"

	"github.com/XSAM/otelsql"
	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

const engine = "my" + "sql"

// of reads and writes through database/sql.
func of(db *sql.DB, err error) (*pool, error) {
	if err != nil {
		return nil, err
	}
	return &pool{
		read: func() (n int, err error) {
			err = db.QueryRow(readText, 7).Scan(&n)
			return n, err
		},
		write: func() error {
			_, err := db.Exec(writeText, 7)
			return err
		},
	}, nil
}

// ofx reads and writes through sqlx.
func ofx(db *sqlx.DB, err error) (*pool, error) {
	if err != nil {
		return nil, err
	}
	return &pool{
		read: func() (n int, err error) {
			err = db.Get(&n, readText, 7)
			return n, err
		},
		write: func() error {
			_, err := db.Exec(writeText, 7)
			return err
		},
	}, nil
}

func engineName() string {
	if name := os.Getenv("DB_ENGINE"); name != "" {
		return name
	}
	return "mysql"
}

func openBy(name, dsn string) (*sql.DB, error) { return sql.Open(name, dsn) }

type settings struct{ driver, dsn string }

func (s settings) open() (*sql.DB, error) { return sql.Open(s.driver, s.dsn) }

// A loggedDriver is a driver around another one.
type loggedDriver struct{ driver.Driver }

// An embedding is a driver by embedding.
type embedding struct{ *mysql.MySQLDriver }

// A wrappedConnector is a connector around another one.
type wrappedConnector struct{ driver.Connector }

func (c wrappedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.Connector.Connect(ctx)
}

func connectorOf(dsn string) (driver.Connector, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return mysql.NewConnector(c)
}

func init() {
	sql.Register("logged", loggedDriver{&mysql.MySQLDriver{}})
	sql.Register("embedding", embedding{&mysql.MySQLDriver{}})
	var d driver.Driver = &mysql.MySQLDriver{}
	if os.Getenv("LOG") == "" {
		d = loggedDriver{d}
	}
	sql.Register("perhaps", d)

	forms["sql constant"] = func(dsn string) (*pool, error) { return of(sql.Open("mysql", dsn)) }
	forms["sql named constant"] = func(dsn string) (*pool, error) { return of(sql.Open(engine, dsn)) }
	forms["sql environment"] = func(dsn string) (*pool, error) {
		name := os.Getenv("DRIVER")
		if name == "" {
			name = "mysql"
		}
		return of(sql.Open(name, dsn))
	}
	forms["sql function"] = func(dsn string) (*pool, error) { return of(sql.Open(engineName(), dsn)) }
	forms["sql parameter"] = func(dsn string) (*pool, error) { return of(openBy("mysql", dsn)) }
	forms["sql field"] = func(dsn string) (*pool, error) { return of(settings{driver: "mysql", dsn: dsn}.open()) }
	forms["sql once"] = func(dsn string) (*pool, error) {
		var db *sql.DB
		var err error
		var once sync.Once
		once.Do(func() { db, err = sql.Open("mysql", dsn) })
		return of(db, err)
	}
	forms["sql connector"] = func(dsn string) (*pool, error) {
		c, err := connectorOf(dsn)
		if err != nil {
			return nil, err
		}
		return of(sql.OpenDB(c), nil)
	}
	forms["sql wrapped connector"] = func(dsn string) (*pool, error) {
		c, err := connectorOf(dsn)
		if err != nil {
			return nil, err
		}
		return of(sql.OpenDB(wrappedConnector{c}), nil)
	}
	forms["sql wrapped driver"] = func(dsn string) (*pool, error) { return of(sql.Open("logged", dsn)) }
	forms["sql embedded driver"] = func(dsn string) (*pool, error) { return of(sql.Open("embedding", dsn)) }
	forms["sql driver in a branch"] = func(dsn string) (*pool, error) { return of(sql.Open("perhaps", dsn)) }
	forms["sql traced"] = func(dsn string) (*pool, error) { return of(otelsql.Open("mysql", dsn)) }
	forms["sql prepared"] = func(dsn string) (*pool, error) {
		p, err := of(sql.Open("mysql", dsn))
		if err != nil {
			return nil, err
		}
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		stmt, err := db.Prepare(readText)
		if err != nil {
			return nil, err
		}
		p.read = func() (n int, err error) {
			err = stmt.QueryRow(7).Scan(&n)
			return n, err
		}
		return p, nil
	}
	forms["sqlx open"] = func(dsn string) (*pool, error) { return ofx(sqlx.Open("mysql", dsn)) }
	forms["sqlx must open"] = func(dsn string) (*pool, error) { return ofx(sqlx.MustOpen("mysql", dsn), nil) }
	forms["sqlx connect"] = func(dsn string) (*pool, error) { return ofx(sqlx.Connect("mysql", dsn)) }
	forms["sqlx must connect"] = func(dsn string) (*pool, error) { return ofx(sqlx.MustConnect("mysql", dsn), nil) }
	forms["sqlx connect, a context"] = func(dsn string) (*pool, error) {
		return ofx(sqlx.ConnectContext(context.Background(), "mysql", dsn))
	}
	forms["sqlx of a pool"] = func(dsn string) (*pool, error) {
		db, err := sql.Open("mysql", dsn)
		return ofx(sqlx.NewDb(db, "mysql"), err)
	}
	forms["sqlx of a connector"] = func(dsn string) (*pool, error) {
		c, err := connectorOf(dsn)
		if err != nil {
			return nil, err
		}
		return ofx(sqlx.NewDb(sql.OpenDB(c), "mysql"), nil)
	}
	forms["sqlx with names"] = func(dsn string) (*pool, error) {
		db, err := sqlx.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		p, err := ofx(db, nil)
		p.write = func() error {
			_, err := db.NamedExec("UPDATE member SET n = n + 1 WHERE id = :id", map[string]interface{}{"id": 7})
			return err
		}
		return p, err
	}
}
