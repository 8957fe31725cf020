/**
 * Whether this machine can have a sandbox at all: tests that need one are skipped by name where it cannot. Asked of bubblewrap itself, not of
 * ours: one of ours that does not hold must not be skipped over.
 */

import { spawnSync } from 'node:child_process'

const { status, error, stderr } = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', '--', '/bin/true'], {
  encoding: 'utf8',
})

/** For `skip`: false where it can. */
export const WITHOUT_SANDBOX: string | false =
  status === 0 ? false : `no sandbox on this machine: ${error ? 'bubblewrap is not installed' : stderr.trim()}`
