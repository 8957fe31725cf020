/** Guards that the drill can take out of the processes, to show that it notices. */

import { join } from 'node:path'

interface BrokenGuard {
  /** Below `src`. */
  readonly file: string
  readonly code: string
  readonly instead: string
}

export const BROKEN_GUARDS: Readonly<Record<string, BrokenGuard>> = {
  'leader-token': {
    file: 'adapters/stores/leaders.ts',
    code: 'if (found?.token === token) return',
    instead: 'return',
  },
  'run-fence': {
    file: 'adapters/stores/postgres/journal.ts',
    code: "AND d.token = u.token\n      AND d.status = 'running'",
    instead: '',
  },
  watchdog: {
    file: 'kernel/queue/shared-worker.ts',
    code: 'const KILL_AFTER = 0.85',
    instead: 'const KILL_AFTER = 1000',
  },
}

/** Contract: flags with which Node loads the program without the guard. */
export function flagsWithout({ file, code, instead }: BrokenGuard): readonly string[] {
  const loader = join(import.meta.dirname, 'break-guard.mjs')
  const query = new URLSearchParams({ file: `/src/${file}`, code, instead })
  return ['--import', `${loader}?${query}`]
}
