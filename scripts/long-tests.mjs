// Test files that take long: sweeps over many faults, attacks and values. `npm test` leaves them out, so that it ends
// within 20 minutes on two cores; each subject keeps shorter tests there. `npm run proofs` runs them.
//
// A file belongs here if it takes longer than about 30 seconds and another test notices the ordinary fault.

export const LONG_TESTS = [
  'src/adapters/documents/git-mirror.test.ts',
  'src/adapters/stores/postgres/finished-rows.test.ts',
  'src/kernel/schedule/schedule-zones.test.ts',
  'test/channels/flood.test.ts',
  'test/contract/garbage-returns.test.ts',
  'test/crash/chat.test.ts',
  'test/crash/cycle.test.ts',
  'test/crash/flood.test.ts',
  'test/crash/kernel-signals.test.ts',
  'test/crash/lost-commits.test.ts',
  'test/crash/once.test.ts',
  'test/crash/sub-agents.test.ts',
  'test/homes/set-aside.test.ts',
  'test/homes/unreadable.test.ts',
  'test/interrupted-commands.test.ts',
  'test/kernel/back-off.test.ts',
  'test/kernel/beats-on-time.test.ts',
  'test/kernel/many-approvals.test.ts',
  'test/number-ranges.test.ts',
  'test/package.test.ts',
  'test/plugins/floods.test.ts',
  'test/provider-faults.test.ts',
  'test/refused-homes-and-values.test.ts',
  'test/restore.test.ts',
  'test/sandbox/copy-attacks.test.ts',
  'test/sandbox/runtime-git.test.ts',
  'test/sandbox/trap-files.test.ts',
  'test/state-versions.test.ts',
  'test/tools/hostile-pages.test.ts',
  'test/upgrade/faults.test.ts',
]
