/** A tool of every effect, which says what it did in a file and, when told to, takes the whole process down with it. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Effect } from '../../src/domain/effect.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

/** Dies before its effect, after it, or not at all. */
export type Death = 'before' | 'after' | 'never'

export function acting(log: string, effect: Effect, death: Death, probe?: 'honest' | 'unclear'): AnyTool {
  const die = () => process.kill(process.pid, 'SIGKILL')
  return defineTool({
    name: 'act',
    description: 'acts',
    args: z.strictObject({}),
    effect: () => effect,
    async run(_, { call }) {
      if (death === 'before') die()
      appendFileSync(log, `${call}\n`)
      if (death === 'after') die()
      return { status: 'ok', content: 'acted' }
    },
    ...(probe === undefined
      ? {}
      : {
          async probe(_: unknown, __: unknown, { call }: { call: string }) {
            if (probe === 'unclear') return { kind: 'unclear' as const }
            const happened = existsSync(log) && readFileSync(log, 'utf8').includes(call)
            return happened
              ? { kind: 'happened' as const, result: { status: 'ok' as const, content: 'it is so' } }
              : { kind: 'not' as const }
          },
        }),
  })
}

export const actOnce = () => scriptedModel([{ calls: [{ tool: 'act' }] }, { text: 'finished' }])

export const runsIn = (log: string): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
