package main

import (
	"context"

	"app205/still/ent"
)

// EntBrief: the cut is for some callers.
func EntBrief(ctx context.Context, c *ent.UserClient, brief bool) []*ent.User {
	users := c.Query().Order(ent.ByName()).AllX(ctx) // want `APP202`
	if brief {
		users = users[:5]
	}
	return users
}
