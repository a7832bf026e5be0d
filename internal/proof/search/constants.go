package search

import (
	"math"
	"time"
)

// A Constant is a number that was set by hand: it decides what a search does next, and
// nothing derives it. Tests hold of each a recorded state of a search in which another
// value leads to another decision (testdata/constants).
type Constant struct {
	Name  string
	Value float64
	Unit  string
	Why   string
}

// A Number names a constant.
type Number int

// The constants, by the question that they answer.
const (
	// How long is a search, and what is its end worth?
	ScarceRuns Number = iota
	VeryScarce
	ScarceCalibration
	CalibrationPairs
	FewestCalibration
	CalibrationShare
	LeastOverhead
	CostKept
	NoiseValid
	MuchNoise
	LongerLoad
	LongerRuns
	CompareShare
	SpareRuns
	TailShare
	TailRounds
	RehearsalShare
	LeastTrial
	LeastTrialScarce
	ObservationRuns
	LastCall
	FromEnd
	LeastFull

	// What does a candidate promise, and what does its trial cost?
	UsualNoise
	UsualFreedom
	BoundOfLook
	FastGain
	FastRuns
	PairsFactor
	ConfirmRuns
	FewestPairs
	MostPairs
	AnswerRuns
	PrepareRuns
	MostPrepared
	MostSaved
	ProposedChance
	ProposedGain
	Trifle
	Hopeless
	Faded
	Without
	Sibling
	KnobChance
	UndecidedBefore
	Grown

	// Which candidate is next, alone or with others?
	Leap
	Solid
	Large
	Middling
	MostParts
	MostRewrites
	MostSwept
	LeastSwept
	SuspectShare
	LeadersShare

	// Is a screening worth its runs?
	LeastFactors
	MostFactors
	ScreenShare
	OthersShare
	MostRows
	FewestRows
	RowsPerPart
	MostBase
	RowsOfPair
	VoidChance
	LeastVoidRows
	LeastActive
	MostActive
	LeastLarge
	MostLarge
	LargeTau
	Samples
	Proposals
	LeastOn
	Sure
	LeastRegret
	LookAgain
	SureErrors
	LeastMean
	MostHarm
	Favours
	Considerable

	// When does a trial end without a verdict?
	UsualEffect
	MostVoids
	MostFailed

	// Did other work use what one change saved?
	SavedShare
	UsedShare
	AbsorbedShare

	// What is checked again at the end?
	ProofLevel
	LeastChance
	PriorMargin
	CheckRuns
	MostVoidRounds
	DebtRounds
	DebtShare
	DebtWaits
	MostBadPairs

	numbers
)

var table = [numbers]Constant{
	ScarceRuns: {"scarce runs", 25, "runs", "A search with fewer runs has no time for a trial of each candidate: " +
		"calibration, observations and the last comparison take about a dozen."},
	VeryScarce: {"very scarce", 17, "runs",
		"A search with fewer has one run of calibration, and its last comparison confirms all that it keeps."},
	ScarceCalibration: {"scarce calibration", 2, "runs",
		"Of a search with few runs that is not so short: the fewest that have a spread."},
	CalibrationPairs: {"calibration pairs", 4, "pairs",
		"Pairs of the unchanged site before the first trial; with fewer the noise is known poorly."},
	FewestCalibration: {"fewest calibration", 1, "runs",
		"Of a search with few runs: each further one is a run of its design less."},
	CalibrationShare: {"calibration share", 1. / 10, "of the time",
		"Where all pairs of the calibration would take more, fewer are made."},
	LeastOverhead: {"least overhead", 2, "s", "The least time that a run takes beyond its load."},
	CostKept: {"cost kept", 9, "tenths of the time of a run",
		"After a shorter one: the time of a run grows at once and falls slowly, so that the end is not cut short."},
	NoiseValid: {"noise valid", 12, "h",
		"Noise that was measured longer ago is measured again: it differs with the hour and with other programs."},
	MuchNoise: {"much noise", 0.15, "noise of a pair",
		"From which longer runs are tried: two pairs prove + 60 % and more only."},
	LongerLoad:   {"longer load", 3, "× short load", "Of the longer runs, if the full ones are not shorter."},
	LongerRuns:   {"longer runs", 4, "runs", "That tell their noise: fewer hardly tell a half from a third."},
	CompareShare: {"compare share", 0.20, "of the time", "The most that the last comparison takes."},
	SpareRuns:    {"spare runs", 3, "runs", "Reserved at the end for the rehearsal and a repeated run."},
	TailShare: {"tail share", 1. / 12, "of the time",
		"Reserved for logs and checks when the search has ended; the rest makes the last runs longer."},
	TailRounds: {"tail rounds", 2, "× debt rounds",
		"Reserved with the tail share for each kept change: a weak proof takes more than two pairs."},
	RehearsalShare: {"rehearsal share", 1. / 4, "runs",
		"A search with few runs reserves this for the rehearsal, and no time for a repeated run."},
	LeastTrial: {"least trial", 4, "runs", "The least in which a trial can decide: two pairs."},
	LeastTrialScarce: {"least trial, scarce", 2, "runs",
		"The same in a scarce search, which accepts a gain that one pair shows."},
	ObservationRuns: {"observation runs", 1.5, "runs",
		"What an observation costs: it restarts the apps before and after its run."},
	LastCall: {"last call", 10, "runs",
		"With fewer runs left, the bundle of all undecided candidates comes first."},
	FromEnd: {"from end", 1. / 2, "× leap", "A trial with a gain that promises this takes time from the last comparison."},
	LeastFull: {"least full", 2, "× load of a trial's run",
		"The runs of the last comparison stay as long when a trial takes time from it."},

	UsualNoise: {"usual noise", 0.05, "on ln(score)", "The noise of a pair before it is measured."},
	UsualFreedom: {"usual freedom", 2, "degrees of freedom",
		"What the usual noise counts as beside what few runs have measured: as much as three runs."},
	BoundOfLook: {"bound of look", 2.12, "standard errors",
		"The bound of a look of the judge: the normal quantile of the mean of its levels, 0.0168."},
	FastGain: {"fast gain", 6, "× noise of a pair", "A larger gain is seen by the fast lane."},
	FastRuns: {"fast runs", 3, "runs",
		"What the fast lane takes: the run, the incumbent's run after it, and one to confirm it."},
	PairsFactor: {"pairs factor", 6.2, "× (noise/gain)²",
		"Pairs that prove a gain with a chance of 80 % at 5 %: (1.64 + 0.84)²."},
	ConfirmRuns: {"confirm runs", 2, "runs",
		"With a change that the fast lane let in, and before it, that decide on it: the fewest that have a spread."},
	FewestPairs: {"fewest pairs", 2, "pairs", "The first look of a trial."},
	MostPairs:   {"most pairs", 8, "pairs", "The last look of a trial."},
	AnswerRuns: {"answer runs", 2, "runs",
		"What the build and the comparison of answers of a change of source take."},
	PrepareRuns: {"prepare runs", 3, "runs",
		"What a placement takes besides its pairs: the copy, its removal, and slower switches."},
	MostPrepared: {"most prepared", 3, "candidates", "That a search prepares: each stops the site for the time of a copy."},
	MostSaved: {"most saved", 0.9, "of the binding resource",
		"That one remedy is expected to save: a share of 1 would mean an infinite gain."},
	ProposedChance: {"proposed chance", 0.1, "probability", "The least of a gain of what a proposer wrote."},
	ProposedGain:   {"proposed gain", 0.05, "on ln(score)", "The least that it promises."},
	Trifle: {"trifle", 0.004, "on ln(score)",
		"Chance times gain below which a candidate gets no trial in a bounded time."},
	Hopeless: {"hopeless", 0.0005, "on ln(score) per run",
		"A trial that promises less ends, also if nothing else waits."},
	Faded: {"faded", 0.7, "× chance",
		"Of a candidate that the latest diagnosis does not have: a limit may hide it."},
	Without: {"without", 0.25, "× chance", "Of a rewrite after a trial of it with others had no gain."},
	Sibling: {"sibling", 0.25, "× chance",
		"Of a knob's value after a trial of another value had no gain."},
	KnobChance: {"knob chance", 2, "× chance",
		"Of a knob once a rewrite with a considerable effect is in force."},
	UndecidedBefore: {"undecided before", 0.5, "× chance",
		"For each trial that decided nothing before the limit moved."},
	Grown: {"grown", 1.25, "× expected gain",
		"From which an undecided candidate has another trial under the same limit."},

	Leap: {"leap", 0.095, "on ln(score)",
		"The least effect of a kept change that may have moved the limit: the site is observed again."},
	Solid: {"solid", 0.2, "on ln(score)",
		"A candidate that promises it comes before rewrites, which often hang on the same seconds."},
	Large: {"large", 0.35, "on ln(score)",
		"A candidate that promises it is tried alone before a screening: it moves the limit."},
	Middling: {"middling", 0.15, "on ln(score)",
		"One that promises less is tried with others where there is no time for each."},
	MostParts: {"most parts", 6, "candidates",
		"Of a bundle whose parts were not tried: one that fails its checks fails all."},
	MostRewrites: {"most rewrites", 12, "candidates",
		"Of a bundle of rewrites of source, which share a build and a comparison of answers."},
	MostSwept: {"most swept", 16, "candidates", "Of a sweep."},
	LeastSwept: {"least swept", 0.01, "on ln(score)",
		"Chance times gain of a part of a sweep; less is not worth the risk for the others."},
	SuspectShare: {"suspect share", 1. / 3, "of the suspects",
		"In one sweep, until the one is left that fails the checks."},
	LeadersShare: {"leaders share", 1. / 4, "of the rest",
		"Large candidates whose trials one by one would take more are tried together first."},

	LeastFactors: {"least factors", 3, "candidates", "Fewer are tried alone in as many runs."},
	MostFactors:  {"most factors", 20, "candidates", "The largest number of parts of a design."},
	ScreenShare: {"screen share", 0.4, "of the rest",
		"The most that a design takes of it: its result is proven in pairs."},
	OthersShare: {"others share", 1. / 3, "of the rest",
		"The most that a design takes of it while another candidate promises more than each of its parts."},
	MostRows:    {"most rows", 24, "runs", "The most that a design has: more runs of the same parts teach little."},
	FewestRows:  {"fewest rows", 3, "runs", "The least that a design has."},
	RowsPerPart: {"rows per part", 2, "runs", "The most for each part: half of them have it, half do not."},
	MostBase:    {"most base", 4, "runs", "The incumbent's latest with which a design begins."},
	RowsOfPair: {"rows of pair", 2, "× most voids, × most failed",
		"A design ends after as many void rows, or rows that fail, as so many pairs have runs."},
	VoidChance: {"void chance", 0.2, "probability",
		"By Fisher's test, from which void rows are not blamed on a part."},
	LeastVoidRows: {"least void rows", 2, "runs", "One void row with a part is blamed on nothing."},
	LeastActive: {"least active", 0.3, "probability",
		"Of an effect of a part before the design: its runs decide, not the diagnosis."},
	MostActive: {"most active", 0.6, "probability", "The same, at most."},
	LeastLarge: {"least large", 0.2, "of the active",
		"The chance that the effect of a part is large, beside its expected gain."},
	MostLarge: {"most large", 0.6, "of the active", "The same, at most."},
	LargeTau: {"large tau", 0.25, "on ln(score)",
		"The least standard deviation of a large effect of a part."},
	Samples: {"samples", 240, "draws",
		"Of the effects of a design: a probability has a standard error of √(¼/240), 3 points."},
	Proposals: {"proposals", 120, "rows", "Random ones of which the one is next that teaches most."},
	LeastOn: {"least on", 0.3, "of the parts",
		"In a random row on average, and as many not: from 0.3 to 0.7 of them."},
	Sure: {"sure", 0.97, "probability", "Of a gain or of harm, from which a design no longer varies a part."},
	LeastRegret: {"least regret", 0.006, "on ln(score)",
		"A design ends when its mistakes would cost less than this on average."},
	LookAgain: {"look again", 0.8, "on ln(score)",
		"The certain gain from which a search with few runs looks again what the limit is."},
	SureErrors: {"sure errors", 2, "standard deviations",
		"That a gain is below its mean which is certain: with a probability of 98 % it is larger."},
	LeastMean: {"least mean", 0.015, "on ln(score)", "The least expected gain of what a design keeps."},
	MostHarm: {"most harm", 0.25, "probability",
		"That any part that a design keeps is harmful, at most: there is no time to check each."},
	Favours: {"favours", 0.6, "probability", "Of a gain, from which a design favours a part."},
	Considerable: {"considerable", 0.02, "on ln(score)",
		"A part that promises less than this on average is not favoured."},

	UsualEffect: {"usual effect", 0.10, "on ln(score)",
		"The standard deviation of effects of kinds that mostly have one, to weigh a trial under way."},
	MostVoids: {"most voids", 6, "runs or pairs",
		"In a row that do not count: the machine is always so, or the trial proves nothing."},
	MostFailed: {"most failed", 3, "runs", "Of the site as it is, failed in a row: the search cannot go on."},

	SavedShare: {"saved share", 0.15, "of the stack's CPU time",
		"Saved in one service, before it is asked who used it."},
	UsedShare: {"used share", 0.5, "of the saved time",
		"Used by other services: the saved time was absorbed."},
	AbsorbedShare: {"absorbed share", 0.5, "of the promised gain",
		"A score that rose by more shows that nothing was absorbed."},

	ProofLevel: {"proof level", 0.0005, "one-sided P", "Below it one trial proves a gain for the whole search: " +
		"of 15 candidates that do nothing, one passes in 1 of 50 searches. A weaker proof is repeated."},
	LeastChance: {"least chance", 0.8, "probability",
		"Of a gain, of a change that stays although there was no time to prove it alone."},
	PriorMargin: {"prior margin", 0.1, "probability",
		"What was known of a change before its check stays as far from 0 and from 1: its pairs decide."},
	MostVoidRounds: {"most void rounds", 2, "rounds",
		"In a row whose run of the final site does not count: the checks end."},
	CheckRuns: {"check runs", 5, "runs",
		"The least time in which a drop-one check or a change of logs can decide."},
	DebtRounds: {"debt rounds", 3, "rounds", "What the proof of a change alone takes, with those of the others."},
	DebtShare:  {"debt share", 0.35, "of the time", "The most that is reserved for debts while the search goes on."},
	DebtWaits: {"debt waits", 0.5, "of what is reserved for debts",
		"Reserved while the limit may have moved or the candidates that had no trial promise a solid gain."},
	MostBadPairs: {"most bad pairs", 2, "pairs", "That the last comparison repeats before disturbed runs count."},
}

func (n Number) count() int { return int(table[n].Value) }

// Value is the number's value.
func (n Number) Value() float64 { return table[n].Value }

// constant is the value of a number in this search: tests set another one.
func (s *State) constant(n Number) float64 {
	if v, set := s.Set[n]; set {
		return v
	}
	return table[n].Value
}

// count is a number that counts something.
func (s *State) count(n Number) int { return int(s.constant(n)) }

// times is a number of runs, or a share, as a time.
func (s *State) times(n Number, of time.Duration) time.Duration {
	return time.Duration(math.Round(s.constant(n) * float64(of)))
}
