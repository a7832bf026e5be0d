package main

import (
	"context"

	"app205/still/ent"
)

// EntCut: the list is cut right after it is read.
func EntCut(ctx context.Context, c *ent.UserClient) ([]*ent.User, error) {
	users, err := c.Query().Order(ent.ByName()).All(ctx) // want `APP202: all rows are read by All of ent and the list is cut to 5`
	if err != nil {
		return nil, err
	}
	if len(users) > 5 {
		users = users[:5]
	}
	return users, nil
}

// EntStops: the loop stops after three.
func EntStops(ctx context.Context, c *ent.UserClient) (names []string) {
	for i, u := range c.Query().AllX(ctx) {
		if i == 3 {
			break
		}
		names = append(names, u.Name)
	}
	users := c.Query().Order(ent.ByName()).AllX(ctx) // want `APP202: all rows are read by AllX of ent and the loop stops after 3`
	for i, u := range users {
		if i == 3 {
			break
		}
		names = append(names, u.Name)
	}
	return names
}
