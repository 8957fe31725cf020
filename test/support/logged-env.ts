/** An env that logs when it is closed. */

import type { Env } from '../../src/ports/env.ts'

export function logClose(log: string[], env: Env): Env {
  const close = async (): Promise<void> => {
    log.push('env closed')
    await env.close()
  }
  return { ...env, close }
}
