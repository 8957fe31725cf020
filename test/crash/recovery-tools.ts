/** A tool with any effect class, which logs each effect to a file and can kill its process. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Effect } from '../../src/domain/effect.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

/** Killed before the effect, after it, or never. */
export type KillPoint = 'before' | 'after' | 'never'

export function actTool(log: string, effect: Effect, killPoint: KillPoint, probe?: 'honest' | 'unclear'): AnyTool {
  const die = () => process.kill(process.pid, 'SIGKILL')
  return defineTool({
    name: 'act',
    description: 'acts',
    args: z.strictObject({}),
    effect: () => effect,
    async run(_, { call }) {
      if (killPoint === 'before') die()
      appendFileSync(log, `${call}\n`)
      if (killPoint === 'after') die()
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

export const actOnceModel = () => scriptedModel([{ calls: [{ tool: 'act' }] }, { text: 'finished' }])

export const effectsIn = (log: string): string[] =>
  existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
