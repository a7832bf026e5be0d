// Package ent has the shape of a client that ent generates.
package ent

import (
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// A Client sends statements by its driver.
type Client struct{ drv dialect.Driver }

// An Option sets up a client.
type Option func(*Client)

// NewClient makes a client.
func NewClient(options ...Option) *Client {
	c := &Client{}
	for _, set := range options {
		set(c)
	}
	return c
}

// Driver sets the driver of a client.
func Driver(d dialect.Driver) Option { return func(c *Client) { c.drv = d } }

// Open opens a pool by one of three names.
func Open(driverName, dataSourceName string, options ...Option) (*Client, error) {
	switch driverName {
	case dialect.MySQL, dialect.Postgres, dialect.SQLite:
		drv, err := sql.Open(driverName, dataSourceName)
		if err != nil {
			return nil, err
		}
		return NewClient(append(options, Driver(drv))...), nil
	default:
		return nil, fmt.Errorf("unsupported driver: %q", driverName)
	}
}

// SQL is the driver.
func (c *Client) SQL() *sql.Driver { return c.drv.(*sql.Driver) }
