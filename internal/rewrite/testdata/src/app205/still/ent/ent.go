// Package ent has the signatures that ent generates, for tests.
package ent

import (
	"context"

	"app205/still/ent/predicate"
)

type User struct{ Name string }

type UserQuery struct{ list []predicate.User }

type UserClient struct{}

func (c *UserClient) Query() *UserQuery                              { return nil }
func (c *UserClient) Get(ctx context.Context, id int) (*User, error) { return nil, nil }
func (q *UserQuery) Where(ps ...predicate.User) *UserQuery           { return q }
func (q *UserQuery) All(ctx context.Context) ([]*User, error)        { return nil, nil }
func IDEQ(id int) predicate.User                                     { return nil }

func (q *UserQuery) Order(by ...func()) *UserQuery    { return q }
func (q *UserQuery) Limit(n int) *UserQuery           { return q }
func (q *UserQuery) AllX(ctx context.Context) []*User { return nil }
func ByName() func()                                  { return nil }
