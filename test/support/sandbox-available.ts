/**
 * Whether this machine can run a sandbox; tests that need one are skipped otherwise. This probes bubblewrap directly
 * and not through the program, because a bug in the program's sandbox must fail the tests, not skip them.
 */

import { spawnSync } from 'node:child_process'

const { status, error, stderr } = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', '--', '/bin/true'], {
  encoding: 'utf8',
})

/** A value for `skip`: false when the sandbox works. */
export const WITHOUT_SANDBOX: string | false =
  status === 0 ? false : `no sandbox on this machine: ${error ? 'bubblewrap is not installed' : stderr.trim()}`
