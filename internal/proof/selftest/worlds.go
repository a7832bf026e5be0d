package selftest

// Worlds are the simulated machines of the self-test: the one that the method
// assumes, and machines that violate its assumptions.
func Worlds() []World {
	return []World{
		{Name: "normal", Sigma: 0.05},
		{Name: "normal", Sigma: 0.02},
		{Name: "Student's t with 3 degrees of freedom", Sigma: 0.05, Shape: StudentT3},
		{Name: "skewed", Sigma: 0.05, Shape: Skewed},
		{Name: "drifts 1 % per run", Sigma: 0.05, Drift: 0.01},
		{Name: "each run is half like the one before", Sigma: 0.05, Together: 0.5},
		{Name: "one run in 20 loses 30 %", Sigma: 0.05, Outliers: 0.05},
		{Name: "one early run gains 30 %", Sigma: 0.05, Lucky: true},
		{Name: "candidate's noise × 1.5", Sigma: 0.05, Candidate: 1.5},
		{Name: "candidate's noise × 2", Sigma: 0.05, Candidate: 2},
		{Name: "A/A noise half of the trial's", Sigma: 0.05, PriorSigma: 0.025},
		{Name: "A/A noise a third of the trial's", Sigma: 0.05, PriorSigma: 0.05 / 3},
		{Name: "every 4th run loses 10 %", Sigma: 0.05, EveryFourth: true},
		{Name: "every 4th run loses 10 %", Sigma: 0.02, EveryFourth: true},
		{Name: "two modes 10 % apart", Sigma: 0.02, Modes: 0.10},
	}
}

// Extra are worlds outside of the goals: no method with few runs holds there.
func Extra() []World {
	return []World{
		{Name: "two modes, the A/A runs saw one", Sigma: 0.02, Modes: 0.10, PriorSigma: 0.02},
		{Name: "noise half that of the A/A runs", Sigma: 0.05, PriorSigma: 0.10},
	}
}
