package stats

// A Cuped removes from a measurement the part that a covariate explains. The
// covariate is measured just before, so that the change cannot affect it (Deng,
// Xu, Kohavi, Walker 2013, WSDM):
//
//	y′ = y − θ·(x − x̄), θ = cov(y,x)/var(x)
//
// The variance falls by the squared correlation. The zero Cuped adjusts nothing.
type Cuped struct {
	Theta float64
	MeanX float64
	Used  bool // false: adjust nothing
}

// Adjust is y′, or y where the covariate is not used.
func (c Cuped) Adjust(y, x float64) float64 {
	if !c.Used {
		return y
	}
	return y - c.Theta*(x-c.MeanX)
}
