package host

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os/user"

	"github.com/go-sql-driver/mysql"
)

// SQL opens a pool to a database server of this machine.
func (l Local) SQL(login Login) (*sql.DB, error) { return OpenSQL(login, l.Dial) }

// OpenSQL makes a pool to a server with the MySQL protocol that connects through a host's
// dial function. It does not connect yet.
func OpenSQL(login Login, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*sql.DB, error) {
	if login.User == "" {
		me, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("finding the account of this process: %w", err)
		}
		login.User = me.Username
	}
	c := mysql.NewConfig()
	c.Net, c.Addr = "tcp", login.Address
	if login.Socket != "" {
		c.Net, c.Addr = "unix", login.Socket
	}
	c.User, c.Passwd, c.DBName = login.User, login.Password, login.Schema
	c.InterpolateParams = true
	c.Logger = &mysql.NopLogger{}
	c.DialFunc = dial
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(login.Idle)
	return db, nil
}
