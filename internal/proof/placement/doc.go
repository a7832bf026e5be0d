// Package placement predicts which hosts the services of a site should run on. It is pure:
// the caller measures, and carries out what is proposed.
//
//	throughput of a placement = min over hosts and resources of capacity ÷ demand per request
//
// The demand of a host is the sum over its services: of CPU the seconds per request, and for
// each call between two hosts what sending it costs at both ends. The prediction is a ratio of
// two throughputs, with a range from the errors of the measured demands. It only orders
// trials: runs decide.
package placement
