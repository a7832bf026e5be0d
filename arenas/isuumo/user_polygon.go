package isuumo

import "context"

// newPolygonUser makes the i-th user who draws polygons on the map.
func (ct *contest) newPolygonUser(i int) *user {
	u := ct.newUser("polygon user", i)
	u.visit = u.visitMap
	return u
}

// visitMap is one visit of a user who draws a polygon and requests the documents
// of an estate inside. Many polygons are empty.
func (u *user) visitMap(ctx context.Context) error {
	if err := u.top(ctx); err != nil {
		return err
	}
	p := u.ct.world.estates.draw(u.rng)
	var found []int32
	err := u.open(func() (err error) { found, err = u.nazotte(ctx, p); return err })
	if err != nil {
		return err
	}
	estate, err := u.lookAtEstates(ctx, found, 1)
	if err != nil {
		return err
	}
	return u.order(ctx, estate)
}
