package main

import (
	"errors"
	"net"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

const mysqlErrDuplicateEntry = 1062

func env(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}

// connectDB opens the database. A batch connection accepts several statements in one query.
func connectDB(batch bool) (*sqlx.DB, error) {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(env("MYSQL_HOSTNAME", "127.0.0.1"), env("MYSQL_PORT", "3306"))
	c.User = env("MYSQL_USER", "isucon")
	c.Passwd = env("MYSQL_PASS", "isucon")
	c.DBName = env("MYSQL_DATABASE", "isucholar")
	c.MultiStatements = batch
	return sqlx.Open("mysql", c.FormatDSN())
}

func isDuplicate(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == mysqlErrDuplicateEntry
}
