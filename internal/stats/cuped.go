package stats

// A Cuped takes out of a measurement what a covariate, measured just before
// and untouched by the change, explains (Deng, Xu, Kohavi, Walker 2013, WSDM):
// y′ = y − θ·(x − x̄), θ = cov(y,x)/var(x); the variance falls by r². The zero
// Cuped adjusts nothing.
type Cuped struct {
	Theta float64
	MeanX float64
	R2    float64 // squared correlation in the runs it was learned from
	Used  bool    // whether it was worth using
}

// Thresholds below which a covariate adds more noise than it takes.
const (
	CupedMinRuns = 12
	CupedMinR2   = 0.2
)

// LearnCuped learns from runs of one unchanged state only (A/A), as a
// change's effect would else be explained away. It is used from r² > 0.2 on at
// least 12 runs.
func LearnCuped(y, x []float64) Cuped {
	if len(y) != len(x) {
		panic("BUG: covariates of unequal length")
	}
	if len(y) < 2 {
		return Cuped{}
	}
	my, mx := Mean(y), Mean(x)
	var sxy, sxx, syy float64
	for i := range y {
		sxy += (y[i] - my) * (x[i] - mx)
		sxx += (x[i] - mx) * (x[i] - mx)
		syy += (y[i] - my) * (y[i] - my)
	}
	if sxx == 0 || syy == 0 {
		return Cuped{MeanX: mx}
	}
	c := Cuped{Theta: sxy / sxx, MeanX: mx, R2: sxy * sxy / (sxx * syy)}
	c.Used = len(y) >= CupedMinRuns && c.R2 > CupedMinR2
	return c
}

// Adjust is y′, or y where the covariate is not used.
func (c Cuped) Adjust(y, x float64) float64 {
	if !c.Used {
		return y
	}
	return y - c.Theta*(x-c.MeanX)
}
