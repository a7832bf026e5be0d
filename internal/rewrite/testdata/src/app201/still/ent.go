package main

import (
	"context"

	"app205/still/ent"
)

// EntKept: the query is one that more is asked of.
func EntKept(ctx context.Context, c *ent.UserClient) (string, int) {
	q := c.Query().Order(ent.ByName())
	users := q.AllX(ctx) // want `APP201`
	if len(users) == 0 {
		return "", 0
	}
	return users[0].Name, len(q.AllX(ctx))
}

// EntLimited: it has a limit.
func EntLimited(ctx context.Context, c *ent.UserClient) string {
	users := c.Query().Order(ent.ByName()).Limit(1).AllX(ctx)
	return users[0].Name
}

// EntLast: the last row is used, too.
func EntLast(ctx context.Context, c *ent.UserClient) (string, string) {
	users := c.Query().Order(ent.ByName()).AllX(ctx)
	return users[0].Name, users[len(users)-1].Name
}
