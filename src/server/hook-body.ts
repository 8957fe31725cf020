/** Reads the body of a request to a channel or source. Few large ones are read at a time: they are in memory. */

import type { IncomingMessage } from 'node:http'
import type { Needs } from '../commands/lib/context.ts'
import { httpError } from './error-response.ts'
import { readTextBody } from './request-body.ts'

const MAX_LARGE = 4

interface HookRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly incoming: IncomingMessage
  /** The limit of a source; undefined for a channel, which may have one of its own. */
  readonly most: number | undefined
}

/** Contract: creates a reader with its own count of large bodies. */
export function createHookReader({ channels, clock }: Needs<'channels' | 'clock'>) {
  let large = 0
  return async (name: string, { headers, incoming, most }: HookRequest): Promise<string> => {
    const limit = most === undefined ? channels.get(name)?.mostBytes?.(headers, clock.now()) : undefined
    if (limit === undefined) return readTextBody(incoming, most)
    if (large >= MAX_LARGE)
      throw httpError(503, { what: 'too many large requests at once', fix: 'send it again later' })
    large += 1
    try {
      return await readTextBody(incoming, limit)
    } finally {
      large -= 1
    }
  }
}
