// Package ondemand plans whether a service that a target declares on demand runs: a
// queue or a store that only a later change of the app uses.
//
// Remedy.Target is the service. Args:
//
//	run   on or off
//
// Steps of a plan:
//
//  1. refuse a service that always runs;
//  2. write or remove the file that enables the service;
//  3. return the file as a Change with a restart of the service, which starts or ends
//     it.
//
// What the app does with the service is another change. So a service that is started
// weakens no promise, and one that is ended weakens availability.
package ondemand
