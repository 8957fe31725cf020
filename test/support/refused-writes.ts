/** Makes system calls on files fail as a full disk or a protected file does, also for root. Changes the process. */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'

type Call = 'renameSync' | 'unlinkSync' | 'ftruncateSync'

interface Refusal {
  readonly calls: readonly Call[]
  readonly code: string
  /** The end of one of the paths; absent: all. */
  readonly path?: string
}

/** Contract: until the result is called, or the test ends, such calls throw. */
export function refuseWrites(t: TestContext, { calls, code, path }: Refusal): () => void {
  const originals = calls.map((name) => [name, fs[name] as (...args: unknown[]) => unknown] as const)
  for (const [name, original] of originals)
    Object.assign(fs, {
      [name]: (...args: unknown[]) => {
        const paths = args.filter((arg) => typeof arg === 'string' || Buffer.isBuffer(arg))
        if (path === undefined || paths.some((arg) => String(arg).endsWith(path)))
          throw Object.assign(new Error(`${code}: refused, ${name}`), { code })
        return original(...args)
      },
    })
  syncBuiltinESMExports()
  const allow = (): void => {
    for (const [name, original] of originals) Object.assign(fs, { [name]: original })
    syncBuiltinESMExports()
  }
  t.after(allow)
  return allow
}
