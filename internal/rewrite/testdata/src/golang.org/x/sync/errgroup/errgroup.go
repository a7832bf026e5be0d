package errgroup

type Group struct{}

func (g *Group) SetLimit(n int)    {}
func (g *Group) Go(f func() error) {}
func (g *Group) Wait() error       { return nil }
