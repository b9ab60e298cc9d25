// Package e2e tests the maker program from outside: the real binary, real
// processes, real signals, a real file system, and a real `maker sim` server on
// loopback. It has tests only.
//
// # What it shows
//
//   - A million steps come out right, in flat memory (TestMillionSteps).
//   - A run that is killed, at random moments and at every append of its log,
//     goes on without losing or repeating what is committed
//     (TestKillAtRandomMoments, TestKillAtEveryAppend, TestKillAfterEveryLine).
//   - A table of records comes out the same however often the run is killed, and a
//     million of them take no more memory than ten thousand
//     (TestMapKilledAtRandomMoments, TestMapAMillionRecords).
//   - Faults are faults and not red flags, and an outage ends a run in a way
//     that can be resumed (TestFaults, TestOutage, TestFaultCap).
//   - Budgets hold with many calls in flight and across kills
//     (TestBudgetsUnderConcurrency, TestCallBudgetAcrossKills).
//   - 2,000 tasks of an outline keep their prompts within the budget, in linear time
//     and flat memory; one that waits for a person survives being killed
//     (TestLongOutline, TestKilledWhileWaiting).
//   - Requests through the gateway to a server that is wrong one time in five are answered
//     right or not at all, and the real claude program does its task with voted turns, which
//     without votes it does not (TestGatewayIsRight, TestGatewayClaude).
//   - One writer a run, a full disk, a read-only folder, no connection leaks
//     (TestTwoProcesses, TestDiskFull, TestReadOnlyFolder, TestNoLeaks).
//
// What a run committed is judged by a solver of this package, which shares no
// code with the solver in domain/hanoi or with the simulator.
//
// # How to run it
//
//	go test -tags slow ./test/e2e           # some minutes
//	go test -tags slow -v ./test/e2e        # with the figures
//	go test -tags slow -short ./test/e2e    # without the million steps, fewer kills
//
// Let nothing else run beside it: memory and time are measured. It needs Linux,
// a Go toolchain and about 700 MB of temporary space. Where it may mount a tmpfs
// (as root, in most containers) it uses one for the full disk and the read-only
// folder, and says which means it used.
package e2e
