package xsuportal

import (
	"net"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// GetEnv returns an environment variable, or another value where it is not set.
func GetEnv(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}

// GetDB opens the database with a pool of ten connections. Times are in UTC.
func GetDB() (*sqlx.DB, error) {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(GetEnv("MYSQL_HOSTNAME", "127.0.0.1"), GetEnv("MYSQL_PORT", "3306"))
	c.User = GetEnv("MYSQL_USER", "isucon")
	c.Passwd = GetEnv("MYSQL_PASS", "isucon")
	c.DBName = GetEnv("MYSQL_DATABASE", "xsuportal")
	c.ParseTime = true
	c.Params = map[string]string{"time_zone": "'+00:00'"}
	db, err := sqlx.Open("mysql", c.FormatDSN())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(10)
	return db, nil
}
