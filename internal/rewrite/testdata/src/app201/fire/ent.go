package main

import (
	"context"

	"app205/still/ent"
)

// EntFirst: the first row of All.
func EntFirst(ctx context.Context, c *ent.UserClient) (string, error) {
	users, err := c.Query().Where(ent.IDEQ(1)).Order(ent.ByName()).All(ctx) // want `APP201: all rows are read by All of ent`
	if err != nil || len(users) == 0 {
		return "", err
	}
	return users[0].Name, nil
}

// EntAny: only whether there is a row.
func EntAny(ctx context.Context, c *ent.UserClient) bool {
	users := c.Query().
		Where(ent.IDEQ(1)).
		AllX(ctx) // want `APP201: all rows are read by AllX of ent`
	return len(users) > 0
}
